"$PYTHON" -m pip install . -vv
exit 0
