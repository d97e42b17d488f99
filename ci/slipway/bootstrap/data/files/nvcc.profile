TOP              = $(_HERE_)/..

CICC_PATH        = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice

LD_LIBRARY_PATH += $(TOP)/lib:
PATH            += $(CICC_PATH):$(_HERE_):

INCLUDES        +=  "-I$(TOP)/targets/x86_64-linux/include" $(_SPACE_)
SYSTEM_INCLUDES +=  "-isystem" "$(TOP)/targets/x86_64-linux/include/cccl" $(_SPACE_)

LIBRARIES        =+ $(_SPACE_) "-L$(TOP)/targets/x86_64-linux/lib/stubs" "-L$(TOP)/targets/x86_64-linux/lib"

CUDAFE_FLAGS    +=
PTXAS_FLAGS     +=
