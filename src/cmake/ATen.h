#pragma once
#include <aten/ATen.h>
