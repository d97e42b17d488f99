"""What serves this checkout only: its tests, its greeting, the truth about its solver. No part of the tool."""
