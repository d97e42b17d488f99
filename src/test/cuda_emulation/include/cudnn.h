#pragma once
// The part of cuDNN that the plug-in uses, answered by plain loops. Numbers are cuDNN's own.

#include <cuda_runtime_api.h>

constexpr int CUDNN_VERSION = 91300;

extern "C" {

enum cudnnStatus_t {
  CUDNN_STATUS_SUCCESS = 0,
  CUDNN_STATUS_BAD_PARAM = 2000,
  CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER = 2003,
  CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT = 2006,
  CUDNN_STATUS_NOT_SUPPORTED = 3000,
  CUDNN_STATUS_NOT_SUPPORTED_SHAPE = 3002,
  CUDNN_STATUS_NOT_SUPPORTED_LAYOUT = 3004,
  CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED = 4004,
  CUDNN_STATUS_EXECUTION_FAILED = 5000,
};
enum cudnnDataType_t { CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2, CUDNN_DATA_BFLOAT16 = 9 };
enum cudnnMathType_t { CUDNN_DEFAULT_MATH = 0, CUDNN_TENSOR_OP_MATH = 1, CUDNN_FMA_MATH = 3 };
enum cudnnTensorFormat_t { CUDNN_TENSOR_NCHW = 0, CUDNN_TENSOR_NHWC = 1 };
enum cudnnConvolutionMode_t { CUDNN_CONVOLUTION = 0, CUDNN_CROSS_CORRELATION = 1 };
enum cudnnDeterminism_t { CUDNN_NON_DETERMINISTIC = 0, CUDNN_DETERMINISTIC = 1 };
enum cudnnConvolutionFwdAlgo_t { CUDNN_CONVOLUTION_FWD_ALGO_COUNT = 8 };
enum cudnnConvolutionBwdDataAlgo_t { CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT = 6 };
enum cudnnConvolutionBwdFilterAlgo_t { CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT = 7 };

typedef struct cudnnContext* cudnnHandle_t;
typedef struct cudnnTensorStruct* cudnnTensorDescriptor_t;
typedef struct cudnnFilterStruct* cudnnFilterDescriptor_t;
typedef struct cudnnConvolutionStruct* cudnnConvolutionDescriptor_t;

size_t cudnnGetVersion();
const char* cudnnGetErrorString(cudnnStatus_t status);
void cudnnGetLastErrorString(char* message, size_t max_size);
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream);
cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor);
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int dims,
                                         const int sizes[], const int strides[]);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filters);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filters);
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filters, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int dims, const int sizes[]);
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* window);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t window);
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t window, int dims, const int padding[],
                                              const int stride[], const int dilation[], cudnnConvolutionMode_t mode,
                                              cudnnDataType_t sums);
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t window, int groups);
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t window, cudnnMathType_t math);

// The functions of one kind: of the descriptors F and S of operands, and R of the result.
#define DECLARE_CONVOLUTION(Name, Algorithm, Found, F, S, R)                                                          \
  typedef struct {                                                                                                    \
    Algorithm algo;                                                                                                   \
    cudnnStatus_t status;                                                                                             \
    float time;                                                                                                       \
    size_t memory;                                                                                                    \
    cudnnDeterminism_t determinism;                                                                                   \
    cudnnMathType_t mathType;                                                                                         \
    int reserved[3];                                                                                                  \
  } Found;                                                                                                            \
  cudnnStatus_t cudnnGet##Name##Algorithm_v7(cudnnHandle_t handle, F first, S second,                                 \
                                             cudnnConvolutionDescriptor_t window, R result, int requested,            \
                                             int* returned, Found* found);                                            \
  cudnnStatus_t cudnnGet##Name##WorkspaceSize(cudnnHandle_t handle, F first, S second,                                \
                                              cudnnConvolutionDescriptor_t window, R result, Algorithm algorithm,     \
                                              size_t* bytes);                                                         \
  cudnnStatus_t cudnn##Name(cudnnHandle_t handle, const void* alpha, F first, const void* first_data, S second,       \
                            const void* second_data, cudnnConvolutionDescriptor_t window, Algorithm algorithm,        \
                            void* workspace, size_t bytes, const void* beta, R result, void* result_data);
DECLARE_CONVOLUTION(ConvolutionForward, cudnnConvolutionFwdAlgo_t, cudnnConvolutionFwdAlgoPerf_t,
                    cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t)
DECLARE_CONVOLUTION(ConvolutionBackwardData, cudnnConvolutionBwdDataAlgo_t, cudnnConvolutionBwdDataAlgoPerf_t,
                    cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t)
DECLARE_CONVOLUTION(ConvolutionBackwardFilter, cudnnConvolutionBwdFilterAlgo_t, cudnnConvolutionBwdFilterAlgoPerf_t,
                    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t)
#undef DECLARE_CONVOLUTION

// For tests: how often the process has run an algorithm, of whichever kind; -1: has asked which there are.
long cuda_emulation_cudnn_calls(int algorithm);
}
