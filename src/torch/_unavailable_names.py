"""Names of PyTorch 2.13 that do nothing here. Written by tests/torch/golden/make_unavailable_names.py."""

NAMES = {
    "torch.ao.quantization": """
AffineQuantizedObserverBase() DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS DEFAULT_DYNAMIC_SPARSE_QUANT_MODULE_MAPPINGS
DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS DEFAULT_MODULE_TO_ACT_POST_PROCESS DEFAULT_QAT_MODULE_MAPPINGS
DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS DEFAULT_STATIC_QUANT_MODULE_MAPPINGS
DEFAULT_STATIC_SPARSE_QUANT_MODULE_MAPPINGS DeQuantStub() FakeQuantize() FakeQuantizeBase()
FixedQParamsFakeQuantize() FixedQParamsObserver() FusedMovingAvgObsFakeQuantize() Granularity() HistogramObserver()
MappingType(SYMMETRIC, SYMMETRIC_NO_CLIPPING_ERR, ASYMMETRIC) MinMaxObserver() MovingAverageMinMaxObserver()
MovingAveragePerChannelMinMaxObserver() NoopObserver() ObserverBase() ObserverOrFakeQuantize PerAxis() PerBlock()
PerChannelMinMaxObserver() PerGroup() PerRow() PerTensor() PerToken() PlaceholderObserver() QConfig() QConfigAny
QConfigDynamic() QConfigMapping() QuantStub() QuantType(DYNAMIC, STATIC, QAT, WEIGHT_ONLY) QuantWrapper()
RecordingObserver() ReuseInputObserver() TorchAODType(INT1, INT2, INT3, INT4, INT5, INT6, INT7)
UniformQuantizationObserverBase() ZeroPointDomain(INT, FLOAT, NONE) add_quant_dequant convert convert_dynamic_jit
convert_jit default_activation_only_qconfig default_affine_fixed_qparams_fake_quant
default_affine_fixed_qparams_observer default_debug_observer() default_debug_qconfig default_dynamic_fake_quant
default_dynamic_qat_qconfig default_dynamic_qconfig default_dynamic_quant_observer default_embedding_fake_quant
default_embedding_fake_quant_4bit default_embedding_qat_qconfig default_embedding_qat_qconfig_4bit default_eval_fn
default_fake_quant default_fixed_qparams_range_0to1_fake_quant default_fixed_qparams_range_0to1_observer
default_fixed_qparams_range_neg1to1_fake_quant default_fixed_qparams_range_neg1to1_observer
default_float_qparams_observer default_float_qparams_observer_4bit default_fused_act_fake_quant
default_fused_per_channel_wt_fake_quant default_fused_wt_fake_quant default_histogram_fake_quant
default_histogram_observer default_observer default_per_channel_qconfig
default_per_channel_symmetric_qnnpack_qat_qconfig default_per_channel_symmetric_qnnpack_qconfig
default_per_channel_weight_fake_quant default_per_channel_weight_observer default_placeholder_observer()
default_qat_qconfig default_qat_qconfig_v2 default_qconfig default_quint8_weight_qconfig
default_reuse_input_observer() default_reuse_input_qconfig default_symmetric_fixed_qparams_fake_quant
default_symmetric_fixed_qparams_observer default_symmetric_qnnpack_qat_qconfig default_symmetric_qnnpack_qconfig
default_weight_fake_quant default_weight_observer default_weight_only_qconfig disable_fake_quant disable_observer
enable_fake_quant enable_observer float16_dynamic_qconfig float16_static_qconfig float_qparams_weight_only_qconfig
float_qparams_weight_only_qconfig_4bit fuse_conv_bn fuse_conv_bn_jit fuse_conv_bn_relu fuse_convtranspose_bn
fuse_linear_bn fuse_modules fuse_modules_qat fused_per_channel_wt_fake_quant_range_neg_127_to_127
fused_wt_fake_quant_range_neg_127_to_127 get_block_size get_default_compare_output_module_list
get_default_custom_config_dict get_default_dynamic_quant_module_mappings
get_default_dynamic_sparse_quant_module_mappings get_default_float_to_quantized_operator_mappings
get_default_qat_module_mappings get_default_qat_qconfig get_default_qat_qconfig_dict get_default_qat_qconfig_mapping
get_default_qconfig get_default_qconfig_dict get_default_qconfig_mapping get_default_qconfig_propagation_list
get_default_static_quant_module_mappings get_default_static_quant_reference_module_mappings
get_default_static_sparse_quant_module_mappings get_dynamic_quant_module_class get_embedding_qat_module_mappings
get_embedding_static_quant_module_mappings get_fuser_method get_fuser_method_new get_observer_state_dict
get_quantized_operator get_static_quant_module_class load_observer_state_dict no_observer_set
per_channel_dynamic_qconfig per_channel_weight_observer_range_neg_127_to_127 prepare prepare_dynamic_jit prepare_jit
prepare_qat propagate_qconfig_ qconfig_equals quantize quantize_dynamic quantize_dynamic_jit quantize_jit
quantize_qat script_qconfig script_qconfig_dict swap_module weight_observer_range_neg_127_to_127
""",
    "torch.ao.quantization.fake_quantize": """
FakeQuantize() FakeQuantizeBase() FixedQParamsFakeQuantize() FixedQParamsObserver() FusedMovingAvgObsFakeQuantize()
HistogramObserver() MovingAverageMinMaxObserver() MovingAveragePerChannelMinMaxObserver()
default_affine_fixed_qparams_fake_quant default_dynamic_fake_quant default_embedding_fake_quant
default_embedding_fake_quant_4bit default_fake_quant default_fixed_qparams_range_0to1_fake_quant
default_fixed_qparams_range_0to1_observer default_fixed_qparams_range_neg1to1_fake_quant
default_fixed_qparams_range_neg1to1_observer default_fused_act_fake_quant default_fused_per_channel_wt_fake_quant
default_fused_wt_fake_quant default_histogram_fake_quant default_per_channel_weight_fake_quant
default_symmetric_fixed_qparams_fake_quant default_weight_fake_quant disable_fake_quant disable_observer
enable_fake_quant enable_observer fused_per_channel_wt_fake_quant_range_neg_127_to_127
fused_wt_fake_quant_range_neg_127_to_127
""",
    "torch.ao.quantization.fuse_modules": """
fuse_conv_bn fuse_conv_bn_relu fuse_known_modules fuse_modules fuse_modules_qat get_fuser_method
""",
    "torch.ao.quantization.observer": """
AffineQuantizedObserverBase() FixedQParamsObserver() Granularity() HistogramObserver() MappingType(SYMMETRIC,
SYMMETRIC_NO_CLIPPING_ERR, ASYMMETRIC) MinMaxObserver() MovingAverageMinMaxObserver()
MovingAveragePerChannelMinMaxObserver() NoopObserver() ObserverBase() PerAxis() PerBlock()
PerChannelMinMaxObserver() PerGroup() PerRow() PerTensor() PerToken() PlaceholderObserver() RecordingObserver()
ReuseInputObserver() TorchAODType(INT1, INT2, INT3, INT4, INT5, INT6, INT7) UniformQuantizationObserverBase()
ZeroPointDomain(INT, FLOAT, NONE) calculate_qmin_qmax check_min_max_valid default_affine_fixed_qparams_observer
default_debug_observer() default_dynamic_quant_observer default_fixed_qparams_range_0to1_observer
default_fixed_qparams_range_neg1to1_observer default_float_qparams_observer default_float_qparams_observer_4bit
default_histogram_observer default_observer default_per_channel_weight_observer default_placeholder_observer()
default_reuse_input_observer() default_symmetric_fixed_qparams_observer default_weight_observer get_block_size
get_observer_state_dict is_per_channel is_per_tensor load_observer_state_dict
per_channel_weight_observer_range_neg_127_to_127 validate_qmin_qmax weight_observer_range_neg_127_to_127
""",
    "torch.ao.quantization.qconfig": """
FakeQuantize() FakeQuantizeBase() FusedMovingAvgObsFakeQuantize() HistogramObserver() MinMaxObserver()
MovingAverageMinMaxObserver() NoopObserver() ObserverBase() PlaceholderObserver() QConfig() QConfigAny
QConfigDynamic() ReuseInputObserver() default_activation_only_qconfig default_debug_observer() default_debug_qconfig
default_dynamic_fake_quant default_dynamic_qat_qconfig default_dynamic_qconfig default_dynamic_quant_observer
default_embedding_fake_quant default_embedding_fake_quant_4bit default_embedding_qat_qconfig
default_embedding_qat_qconfig_4bit default_fake_quant default_float_qparams_observer
default_float_qparams_observer_4bit default_fused_act_fake_quant default_fused_per_channel_wt_fake_quant
default_fused_wt_fake_quant default_observer default_per_channel_qconfig
default_per_channel_symmetric_qnnpack_qat_qconfig default_per_channel_symmetric_qnnpack_qconfig
default_per_channel_weight_fake_quant default_per_channel_weight_observer default_placeholder_observer()
default_qat_qconfig default_qat_qconfig_v2 default_qconfig default_quint8_weight_qconfig
default_reuse_input_observer() default_reuse_input_qconfig default_symmetric_qnnpack_qat_qconfig
default_symmetric_qnnpack_qconfig default_weight_fake_quant default_weight_observer default_weight_only_qconfig
float16_dynamic_qconfig float16_static_qconfig float_qparams_weight_only_qconfig
float_qparams_weight_only_qconfig_4bit fused_per_channel_wt_fake_quant_range_neg_127_to_127
fused_wt_fake_quant_range_neg_127_to_127 get_default_qat_qconfig get_default_qat_qconfig_dict get_default_qconfig
get_default_qconfig_dict per_channel_dynamic_qconfig per_channel_weight_observer_range_neg_127_to_127 qconfig_equals
weight_observer_range_neg_127_to_127
""",
    "torch.ao.quantization.qconfig_mapping": """
FixedQParamsFakeQuantize() QConfig() QConfigAny QConfigMapping() TYPE_CHECKING
default_fixed_qparams_range_0to1_observer default_fixed_qparams_range_neg1to1_observer
default_placeholder_observer() default_quint8_weight_qconfig default_reuse_input_qconfig
default_symmetric_qnnpack_qat_qconfig default_symmetric_qnnpack_qconfig default_weight_fake_quant
default_weight_observer get_default_qat_qconfig get_default_qat_qconfig_mapping get_default_qconfig
get_default_qconfig_mapping
""",
    "torch.ao.quantization.quantize": """
DEPRECATION_WARNING DeQuantStub() QuantWrapper() add_quant_dequant convert default_dynamic_qconfig
float16_dynamic_qconfig float_qparams_weight_only_qconfig float_qparams_weight_only_qconfig_4bit
get_default_custom_config_dict get_default_dynamic_quant_module_mappings get_default_qat_module_mappings
get_default_qconfig_propagation_list get_default_static_quant_module_mappings
get_default_static_quant_reference_module_mappings get_qparam_dict has_no_children_ignoring_parametrizations
is_activation_post_process no_observer_set prepare prepare_qat propagate_qconfig_ quantize quantize_dynamic
quantize_qat swap_module
""",
    "torch.ao.quantization.quantize_fx": """
BackendConfig() ConvertCustomConfig() DEPRECATION_WARNING FuseCustomConfig() ObservedGraphModule()
PrepareCustomConfig() QConfigMapping() QuantizationTracer() ScopeContextManager() attach_preserved_attrs_to_model
convert convert_fx convert_to_reference_fx fuse fuse_fx get_custom_module_class_keys
get_skipped_module_name_and_classes get_tensorrt_backend_config prepare prepare_fx prepare_qat_fx
""",
    "torch.cuda.gds": """
GdsFile() gds_deregister_buffer gds_register_buffer
""",
    "torch.cuda.green_contexts": """
GreenContext() SUPPORTED
""",
    "torch.cuda.tunable": """
enable get_filename get_max_tuning_duration get_max_tuning_iterations get_results get_rotating_buffer_size
get_validators is_enabled mgpu_tune_gemm_in_file read_file record_untuned_enable record_untuned_is_enabled
set_filename set_max_tuning_duration set_max_tuning_iterations set_numerical_check_tolerances
set_rotating_buffer_size tune_gemm_in_file tuning_enable tuning_is_enabled
""",
    "torch.distributed": """
AllToAllOptions() AllreduceCoalescedOptions() AllreduceOptions() Backend(UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL,
FAKE) BackendConfig() BarrierOptions() BroadcastOptions() BuiltinCommHookType(ALLREDUCE, FP16_COMPRESS)
DebugLevel(OFF, INFO, DETAIL) DeviceMesh() DistBackendError() DistError() DistNetworkError() DistStoreError()
FileStore() GatherOptions() GradBucket() GroupMember(NON_GROUP_MEMBER, WORLD) GroupName HashStore() Logger() P2POp()
PrefixStore() ProcessGroup(UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, CUSTOM) ProcessGroupGloo() QueueEmptyError()
ReduceOp(SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM) ReduceOptions() ReduceScatterOptions() Reducer()
ScatterOptions() Store() TCPStore() Work() all_gather all_gather_coalesced all_gather_into_tensor all_gather_object
all_gather_single all_reduce all_reduce_coalesced all_to_all all_to_all_single barrier batch_isend_irecv breakpoint
broadcast broadcast_object_list default_pg_timeout destroy_process_group gather gather_object get_backend
get_backend_config get_debug_level get_default_backend_for_device get_global_rank get_group_rank get_node_local_rank
get_pg_count get_process_group_ranks get_rank get_world_size group(WORLD) init_device_mesh init_process_group irecv
is_available is_backend_available is_gloo_available is_initialized is_mpi_available is_nccl_available
is_torchelastic_launched is_ucc_available is_xccl_available isend monitored_barrier new_group new_subgroups
new_subgroups_by_enumeration record_comm recv recv_object_list reduce reduce_op reduce_scatter reduce_scatter_single
reduce_scatter_tensor register_rendezvous_handler rendezvous scatter scatter_object_list send send_object_list
set_debug_level set_debug_level_from_env shrink_group split_group supports_complex
""",
    "torch.distributed._composable": """
checkpoint contract replicate
""",
    "torch.distributed._composable.checkpoint_activation": """
checkpoint contract
""",
    "torch.distributed._composable.contract": """
REGISTRY_KEY RegistryItem() STATE_KEY contract generate_state_key
""",
    "torch.distributed._composable.fsdp": """
CPUOffloadPolicy() FSDPModule() MixedPrecisionPolicy() OffloadPolicy() fully_shard register_fsdp_forward_method
""",
    "torch.distributed._composable.fsdp.fully_shard": """
FSDPModule() UnshardHandle() fully_shard register_fsdp_forward_method
""",
    "torch.distributed._composable.replicate": """
DDP() contract replicate unimplemented_deepcopy
""",
    "torch.distributed._composable.replicate_with_fsdp": """
DDPMeshInfo() FSDPModule() FSDPState() FSDPStateContext() MixedPrecisionPolicy() OffloadPolicy() ReplicateModule()
TYPE_CHECKING cls_to_replicate_cls contract is_composable_with_replicate replicate
""",
    "torch.distributed._functional_collectives": """
AsyncCollectiveTensor() DeviceMesh() REDUCE_OP_TO_STR TYPE_CHECKING all_gather_inplace
all_gather_into_tensor_backward all_gather_into_tensor_coalesced all_gather_into_tensor_coalesced_backward
all_gather_into_tensor_coalesced_setup_context all_gather_into_tensor_setup_context all_gather_single
all_gather_single_autograd all_gather_single_coalesced all_gather_tensor all_gather_tensor_autograd
all_gather_tensor_inplace all_reduce all_reduce_backward all_reduce_coalesced all_reduce_coalesced_backward
all_reduce_coalesced_setup_context all_reduce_inplace all_reduce_setup_context all_to_all_inplace all_to_all_single
all_to_all_single_autograd all_to_all_single_backward all_to_all_single_setup_context
allow_inflight_collective_as_graph_input_ctx backend_impl batch_p2p_ops_inplace broadcast irecv_inplace
isend_inplace legacy_all_gather legacy_all_gather_base legacy_all_to_all_single legacy_allgather
legacy_allgather_single legacy_allreduce legacy_batch_p2p_ops legacy_irecv legacy_isend legacy_reduce_scatter_base
legacy_reducescatter legacy_reducescatter_single op_def op_name ops_defs permute_tensor reduce_scatter_single
reduce_scatter_single_autograd reduce_scatter_single_coalesced reduce_scatter_tensor reduce_scatter_tensor_autograd
reduce_scatter_tensor_backward reduce_scatter_tensor_coalesced reduce_scatter_tensor_coalesced_backward
reduce_scatter_tensor_coalesced_setup_context reduce_scatter_tensor_inplace reduce_scatter_tensor_setup_context
traceable_collective_remaps wait_tensor wait_tensor_backward wait_tensor_setup_context
""",
    "torch.distributed._tensor": """
DTensor() DeviceMesh() Partial(LINEAR_REDUCE_OPS, ALL_REDUCE_OPS) Placement() Replicate() Shard() distribute_module
distribute_tensor empty full full_module_name init_device_mesh ones rand randn submodule submodules zeros
""",
    "torch.distributed._tensor._shards_wrapper": """
ChunkStorageMetadata() LocalShardsWrapper() MetadataIndex() TensorProperties() TensorStorageMetadata()
TensorWriteData() WriteItem() WriteItemType(TENSOR, SHARD, BYTE_IO)
""",
    "torch.distributed._tensor._utils": """
DTensorSpec() DeviceMesh() ExplicitRedistributionContext() OpSchema() Partial(LINEAR_REDUCE_OPS, ALL_REDUCE_OPS)
Placement() Replicate() Shard() assert_no_mixed_partial_types compute_global_tensor_shape
compute_local_shape_and_global_offset compute_local_stride compute_local_tensor_info maybe_run_for_local_tensor
normalize_to_torch_size redistribute_cost try_find_mesh_from_args
""",
    "torch.distributed._tensor.api": """
DTensor() distribute_module distribute_tensor empty full ones rand randn zeros
""",
    "torch.distributed._tensor.device_mesh": """
DeviceMesh() init_device_mesh
""",
    "torch.distributed._tensor.experimental": """
DTensor() context_parallel implicit_replication local_map register_sharding
""",
    "torch.distributed._tensor.placement_types": """
DTensorSpec() DeviceMesh() Partial(LINEAR_REDUCE_OPS, ALL_REDUCE_OPS) Placement() Replicate() Shard()
ShardOrderEntry() TensorMeta() dtype_abbrs
""",
    "torch.distributed.algorithms": """
Join() JoinHook() Joinable()
""",
    "torch.distributed.algorithms._checkpoint": """
""",
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper": """
ActivationWrapper() CheckpointImpl(REENTRANT, NO_REENTRANT) CheckpointWrapper() OffloadWrapper()
apply_activation_checkpointing checkpoint_wrapper offload_wrapper
""",
    "torch.distributed.algorithms.ddp_comm_hooks": """
DDPCommHookType(ALLREDUCE, FP16_COMPRESS, BF16_COMPRESS, QUANTIZE_PER_TENSOR, QUANTIZE_PER_CHANNEL, POWER_SGD,
POWER_SGD_RANK2, BATCHED_POWER_SGD, BATCHED_POWER_SGD_RANK2, NOOP) register_ddp_comm_hook
""",
    "torch.distributed.algorithms.ddp_comm_hooks.ddp_zero_hook": """
ZeroRedundancyOptimizer() hook_with_zero_step hook_with_zero_step_interleaved
""",
    "torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks": """
GradBucket() noop_hook
""",
    "torch.distributed.algorithms.ddp_comm_hooks.default_hooks": """
allreduce_hook bf16_compress_hook bf16_compress_wrapper fp16_compress_hook fp16_compress_wrapper
""",
    "torch.distributed.algorithms.ddp_comm_hooks.mixed_precision_hooks": """
""",
    "torch.distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks": """
""",
    "torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook": """
PostLocalSGDState() post_localSGD_hook
""",
    "torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook": """
PowerSGDState() batched_powerSGD_hook powerSGD_hook
""",
    "torch.distributed.algorithms.ddp_comm_hooks.quantization_hooks": """
quantization_perchannel_hook quantization_pertensor_hook
""",
    "torch.distributed.algorithms.join": """
Join() JoinHook() Joinable()
""",
    "torch.distributed.algorithms.model_averaging": """
""",
    "torch.distributed.algorithms.model_averaging.averagers": """
ModelAverager() PeriodicModelAverager()
""",
    "torch.distributed.algorithms.model_averaging.hierarchical_model_averager": """
HierarchicalModelAverager()
""",
    "torch.distributed.algorithms.model_averaging.utils": """
ProcessGroup(UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, CUSTOM) average_parameters
average_parameters_or_parameter_groups get_params_to_average group(WORLD)
""",
    "torch.distributed.argparse_util": """
check_env() env()
""",
    "torch.distributed.autograd": """
DistAutogradContext() TYPE_CHECKING backward context() get_gradients is_available
""",
    "torch.distributed.c10d_logger": """
""",
    "torch.distributed.checkpoint": """
BytesStorageMetadata() CheckpointException() ChunkStorageMetadata() DefaultLoadPlanner() DefaultSavePlanner()
FileSystemReader() FileSystemWriter() HuggingFaceStorageReader() HuggingFaceStorageWriter() LoadPlan() LoadPlanner()
Metadata() QuantizedHuggingFaceStorageReader() ReadItem() SavePlan() SavePlanner() StorageReader() StorageWriter()
TensorStorageMetadata() WriteItem() async_save load load_sharded_optimizer_state_dict load_state_dict save
save_state_dict
""",
    "torch.distributed.checkpoint._consolidate_hf_safetensors": """
DATA_OFFSETS_KEY DEFAULT_EXTRA_METADATA_KEY DTYPE_KEY SAVED_OFFSETS_KEY SHAPE_KEY SUFFIX
consolidate_safetensors_files consolidate_safetensors_files_on_every_rank
""",
    "torch.distributed.checkpoint.api": """
CheckpointException()
""",
    "torch.distributed.checkpoint.default_planner": """
BytesStorageMetadata() ChunkStorageMetadata() DTensor() DefaultLoadPlanner() DefaultSavePlanner() LoadPlan()
LoadPlanner() Metadata() MetadataIndex() ReadItem() SavePlan() SavePlanner() StorageMeta() TensorStorageMetadata()
WriteItem() WriteItemType(TENSOR, SHARD, BYTE_IO) create_default_global_load_plan create_default_global_save_plan
create_default_local_load_plan create_default_local_save_plan dedup_save_plans find_state_dict_object
flatten_state_dict narrow_tensor_by_index set_element
""",
    "torch.distributed.checkpoint.filesystem": """
BlockingAsyncStager() CURRENT_DCP_VERSION CUSTOM_METADATA_KEY DCP_VERSION_KEY DEFAULT_SUFFIX ExtensionRegistry()
FORMAT_KEY FORMAT_VALUE FileSystem() FileSystemBase() FileSystemReader() FileSystemWriter() HF_DCP_VERSION
LoadItemType(TENSOR, BYTE_IO) LoadPlan() LoadPlanner() Metadata() ReadItem() SavePlan() SavePlanner()
SerializationFormat(TORCH_SAVE, SAFETENSORS) StorageMeta() StorageReader() StorageWriter()
StreamTransformExtension() WriteItem() WriteItemType(TENSOR, SHARD, BYTE_IO) WriteResult() narrow_tensor_by_index
""",
    "torch.distributed.checkpoint.format_utils": """
BroadcastingTorchSaveReader() DefaultLoadPlanner() DynamicMetaLoadPlanner() FileSystemReader() FileSystemWriter()
LoadItemType(TENSOR, BYTE_IO) LoadPlan() LoadPlanner() Metadata() StorageReader() TensorProperties()
TensorStorageMetadata() _EmptyStateDictLoadPlanner() dcp_to_torch_save flatten_state_dict narrow_tensor_by_index
torch_save_to_dcp
""",
    "torch.distributed.checkpoint.hf_storage": """
CUSTOM_METADATA_KEY ChunkStorageMetadata() FileSystemReader() FileSystemWriter() HuggingFaceStorageReader()
HuggingFaceStorageWriter() LoadPlan() LoadPlanner() Metadata() MetadataIndex() ReadItem() SAVED_OFFSETS_KEY
SHARDED_DIR_NAME SUFFIX SavePlan() SavePlanner() SerializationFormat(TORCH_SAVE, SAFETENSORS) StorageMeta()
TensorProperties() TensorStorageMetadata() WriteItem() WriteResult() consolidate_safetensors_files
""",
    "torch.distributed.checkpoint.logger": """
DCP_LOGGER_NAME
""",
    "torch.distributed.checkpoint.logging_handlers": """
DCP_LOGGER_NAME
""",
    "torch.distributed.checkpoint.metadata": """
BytesStorageMetadata() ChunkStorageMetadata() Metadata() MetadataIndex() StatefulT StorageMeta() TensorProperties()
TensorStorageMetadata()
""",
    "torch.distributed.checkpoint.optimizer": """
BytesStorageMetadata() ChunkShardingSpec() ChunkStorageMetadata() DTensor() DefaultLoadPlanner() LoadPlan()
LoadPlanner() Metadata() MetadataIndex() Shard() ShardTensorProperties() ShardedTensor() StorageReader()
TensorProperties() TensorStorageMetadata() create_read_items_for_chunk_list load_sharded_optimizer_state_dict
load_state_dict unflatten_state_dict
""",
    "torch.distributed.checkpoint.planner": """
BytesIOWriteData() ChunkStorageMetadata() LoadItemType(TENSOR, BYTE_IO) LoadPlan() LoadPlanner() Metadata()
MetadataIndex() ReadItem() SavePlan() SavePlanner() StorageMeta() TensorProperties() TensorWriteData() WriteItem()
WriteItemType(TENSOR, SHARD, BYTE_IO)
""",
    "torch.distributed.checkpoint.planner_helpers": """
BytesStorageMetadata() ChunkStorageMetadata() DTensor() LoadItemType(TENSOR, BYTE_IO) MetadataIndex() ReadItem()
SavePlan() ShardMetadata() ShardedTensor() TensorProperties() TensorStorageMetadata() TensorWriteData() WriteItem()
WriteItemType(TENSOR, SHARD, BYTE_IO) compute_local_shape_and_global_offset create_read_items_for_chunk_list
""",
    "torch.distributed.checkpoint.quantized_hf_storage": """
HuggingFaceStorageReader() LoadPlanner() QuantizedHuggingFaceStorageReader() ReadItem() TensorStorageMetadata()
""",
    "torch.distributed.checkpoint.resharding": """
ChunkStorageMetadata()
""",
    "torch.distributed.checkpoint.staging": """
AsyncStager() BlockingAsyncStager() DefaultStager() PGTransport() ProcessGroup(UNDEFINED, GLOO, NCCL, XCCL, UCC,
MPI, CUSTOM) StagingOptions() StateDictStager()
""",
    "torch.distributed.checkpoint.state_dict": """
DTensor() DictValueType FQNS_T FSDP() FSDP_WRAPPED_MODULE FullOptimStateDictConfig() FullStateDictConfig()
HYBRID_SHARDING_STRATEGIES ListDictValueType OptimStateDictConfig() OptimizerStateType PrimitiveType
ShardedOptimStateDictConfig() ShardedStateDictConfig() ShardedTensor() StateDictConfig() StateDictOptions()
StateDictType(FULL_STATE_DICT, LOCAL_STATE_DICT, SHARDED_STATE_DICT) ValueType get_model_state_dict
get_optimizer_state_dict get_state_dict set_model_state_dict set_optimizer_state_dict set_state_dict
""",
    "torch.distributed.checkpoint.state_dict_loader": """
DefaultLoadPlanner() LoadPlan() LoadPlanner() Stateful() StorageReader() TYPE_CHECKING _load_state_dict load
load_state_dict
""",
    "torch.distributed.checkpoint.state_dict_saver": """
AsyncCheckpointerType(THREAD, PROCESS) AsyncSaveResponse() AsyncStager() DefaultSavePlanner() DefaultStager()
Metadata() SavePlan() SavePlanner() StagingOptions() Stateful() StorageWriter() TYPE_CHECKING WriteResult()
async_save save save_state_dict
""",
    "torch.distributed.checkpoint.stateful": """
Stateful() StatefulT
""",
    "torch.distributed.checkpoint.storage": """
LoadPlan() LoadPlanner() Metadata() MetadataIndex() SavePlan() SavePlanner() StorageMeta() StorageReader()
StorageWriter() WriteResult()
""",
    "torch.distributed.checkpoint.utils": """
CheckpointException() ENABLE_PROFILE MetadataIndex() R Shard() ShardedTensor() T find_state_dict_object
find_tensor_shard
""",
    "torch.distributed.collective_utils": """
SyncPayload() T TYPE_CHECKING all_gather all_gather_object_enforce_type broadcast
""",
    "torch.distributed.config": """
""",
    "torch.distributed.constants": """
default_pg_nccl_timeout default_pg_timeout
""",
    "torch.distributed.debug": """
TYPE_CHECKING get_rank start_debug_server stop_debug_server tcpstore_client
""",
    "torch.distributed.device_mesh": """
C10dBackend() DeviceMesh() GroupName ProcessGroup(UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, CUSTOM) TYPE_CHECKING
get_backend get_process_group_ranks get_rank get_world_size init_device_mesh init_process_group is_available
is_initialized new_group split_group
""",
    "torch.distributed.distributed_c10d": """
AllToAllOptions() AllgatherOptions() AllreduceCoalescedOptions() AllreduceOptions() Backend(UNDEFINED, GLOO, NCCL,
UCC, MPI, XCCL, FAKE) BackendConfig() BarrierOptions() BroadcastOptions() DebugLevel(OFF, INFO, DETAIL)
DistStoreError() GatherOptions() GroupMember(NON_GROUP_MEMBER, WORLD) GroupName P2POp() PG_WRAPPER_STORE_PREFIX
PrefixStore() ProcessGroup(UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, CUSTOM) ProcessGroupGloo() ReduceOp(SUM, AVG,
PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM) ReduceOptions() ReduceScatterOptions() SHRINK_ABORT SHRINK_DEFAULT
STORE_BASED_BARRIER_PREFIX ScatterOptions() Store() TYPE_CHECKING Work() _get_default_group _pg_map all_gather
all_gather_coalesced all_gather_into_tensor all_gather_object all_gather_single all_reduce all_reduce_coalesced
all_to_all all_to_all_single barrier batch_isend_irecv broadcast broadcast_object_list default_pg_nccl_timeout
default_pg_timeout destroy_process_group gather gather_object get_backend get_backend_config get_debug_level
get_default_backend_for_device get_global_rank get_group_rank get_node_local_rank get_pg_count
get_process_group_ranks get_rank get_world_size group(WORLD) init_process_group irecv is_backend_available
is_gloo_available is_initialized is_mpi_available is_nccl_available is_torchelastic_launched is_ucc_available
is_xccl_available isend monitored_barrier new_group new_subgroups new_subgroups_by_enumeration record_comm recv
recv_object_list reduce reduce_op reduce_scatter reduce_scatter_single reduce_scatter_tensor
register_rendezvous_handler rendezvous scatter scatter_object_list send send_object_list shrink_group split_group
supports_complex
""",
    "torch.distributed.elastic": """
""",
    "torch.distributed.elastic.agent": """
""",
    "torch.distributed.elastic.agent.server": """
ElasticAgent() RunResult() SimpleElasticAgent() TORCHELASTIC_ENABLE_FILE_TIMER TORCHELASTIC_TIMER_FILE Worker()
WorkerGroup() WorkerSpec() WorkerState(UNKNOWN, INIT, HEALTHY, UNHEALTHY, STOPPED, SUCCEEDED, FAILED)
""",
    "torch.distributed.elastic.agent.server.api": """
DEFAULT_ROLE ElasticAgent() Event() EventSource(AGENT, WORKER) ProcessFailure() RendezvousGracefulExitError()
RunResult() SignalException() SimpleElasticAgent() Worker() WorkerGroup() WorkerSpec() WorkerState(UNKNOWN, INIT,
HEALTHY, UNHEALTHY, STOPPED, SUCCEEDED, FAILED) get_logger prof put_metric record
""",
    "torch.distributed.elastic.agent.server.health_check_server": """
HealthCheckServer() create_healthcheck_server get_logger
""",
    "torch.distributed.elastic.agent.server.local_elastic_agent": """
HealthCheckServer() LocalElasticAgent() LogsSpecs() PContext() RunResult() SimpleElasticAgent()
TORCHELASTIC_ENABLE_FILE_TIMER TORCHELASTIC_HEALTH_CHECK_PORT TORCHELASTIC_TIMER_FILE
TORCHELASTIC_UNINTERRUPTIBLE_STATE_TIMEOUT TYPE_CHECKING WorkerGroup() WorkerSpec() WorkerState(UNKNOWN, INIT,
HEALTHY, UNHEALTHY, STOPPED, SUCCEEDED, FAILED) create_healthcheck_server get_logger is_uninterruptible_state
macros() prof read_proc_state start_processes
""",
    "torch.distributed.elastic.control_plane": """
TORCH_WORKER_SERVER_SOCKET record worker_main
""",
    "torch.distributed.elastic.events": """
Event() EventSource(AGENT, WORKER) NodeState(INIT, RUNNING, SUCCEEDED, FAILED) RdzvEvent()
construct_and_record_rdzv_event get_logging_handler record record_rdzv_event
""",
    "torch.distributed.elastic.events.api": """
Event() EventSource(AGENT, WORKER) NodeState(INIT, RUNNING, SUCCEEDED, FAILED) RdzvEvent()
""",
    "torch.distributed.elastic.events.handlers": """
get_logging_handler
""",
    "torch.distributed.elastic.metrics": """
ConsoleMetricHandler() MetricData() MetricHandler() MetricsConfig() NullMetricHandler() configure getStream
get_elapsed_time_ms initialize_metrics prof profile publish_metric put_metric
""",
    "torch.distributed.elastic.metrics.api": """
ConsoleMetricHandler() MetricData() MetricHandler() MetricStream() MetricsConfig() NullMetricHandler() configure
getStream get_elapsed_time_ms prof profile publish_metric put_metric
""",
    "torch.distributed.elastic.multiprocessing": """
DefaultLogsSpecs() LogsDest() LogsSpecs() MultiprocessContext() PContext() ProcessFailure() RunProcsResult()
SignalException() Std(NONE, OUT, ERR, ALL) SubprocessContext() get_logger start_processes to_map
""",
    "torch.distributed.elastic.multiprocessing.api": """
DefaultLogsSpecs() IS_MACOS IS_WINDOWS LogsDest() LogsSpecs() MultiprocessContext() PContext() ProcessFailure()
RunProcsResult() SignalException() Std(NONE, OUT, ERR, ALL) SubprocessContext() SubprocessHandler() TailLog()
get_std_cm get_subprocess_handler record to_map
""",
    "torch.distributed.elastic.multiprocessing.errors": """
ChildFailedError() ErrorHandler() ProcessFailure() get_error_handler get_logger record
""",
    "torch.distributed.elastic.multiprocessing.errors.error_handler": """
ErrorHandler()
""",
    "torch.distributed.elastic.multiprocessing.errors.handlers": """
ErrorHandler() get_error_handler
""",
    "torch.distributed.elastic.multiprocessing.redirects": """
IS_MACOS IS_WINDOWS get_libc redirect
""",
    "torch.distributed.elastic.multiprocessing.subprocess_handler": """
SubprocessHandler() get_subprocess_handler
""",
    "torch.distributed.elastic.multiprocessing.subprocess_handler.handlers": """
SubprocessHandler() get_subprocess_handler
""",
    "torch.distributed.elastic.multiprocessing.subprocess_handler.subprocess_handler": """
IS_WINDOWS SubprocessHandler()
""",
    "torch.distributed.elastic.multiprocessing.tail_log": """
TYPE_CHECKING TailLog() tail_logfile
""",
    "torch.distributed.elastic.rendezvous": """
RendezvousClosedError() RendezvousConnectionError() RendezvousError() RendezvousGracefulExitError()
RendezvousHandler() RendezvousHandlerCreator RendezvousHandlerRegistry() RendezvousInfo() RendezvousParameters()
RendezvousStateError() RendezvousStoreInfo(MASTER_ADDR_KEY, MASTER_PORT_KEY) RendezvousTimeoutError()
rendezvous_handler_registry
""",
    "torch.distributed.elastic.rendezvous.api": """
RendezvousClosedError() RendezvousConnectionError() RendezvousError() RendezvousGracefulExitError()
RendezvousHandler() RendezvousHandlerCreator RendezvousHandlerRegistry() RendezvousInfo() RendezvousParameters()
RendezvousStateError() RendezvousStoreInfo(MASTER_ADDR_KEY, MASTER_PORT_KEY) RendezvousTimeoutError() Store()
get_free_port rendezvous_handler_registry
""",
    "torch.distributed.elastic.rendezvous.c10d_rendezvous_backend": """
C10dRendezvousBackend() DEFAULT_PORT FileStore() NodeState(INIT, RUNNING, SUCCEEDED, FAILED) RendezvousBackend()
RendezvousConnectionError() RendezvousError() RendezvousParameters() RendezvousStateError() Store() TCPStore()
construct_and_record_rdzv_event create_backend parse_rendezvous_endpoint
""",
    "torch.distributed.elastic.rendezvous.dynamic_rendezvous": """
DynamicRendezvousHandler() NodeState(INIT, RUNNING, SUCCEEDED, FAILED) RendezvousBackend() RendezvousClosedError()
RendezvousError() RendezvousGracefulExitError() RendezvousHandler() RendezvousInfo() RendezvousParameters()
RendezvousSettings() RendezvousStateError() RendezvousStoreInfo(MASTER_ADDR_KEY, MASTER_PORT_KEY)
RendezvousTimeout() RendezvousTimeoutError() Store() construct_and_record_rdzv_event create_handler get_method_name
""",
    "torch.distributed.elastic.rendezvous.etcd_rendezvous": """
CONST_ETCD_FROZEN_TTL CONST_ETCD_JOINABLE_EPHEMERAL_TTL CONST_ETCD_SETUP_TTL CONST_RUNID_SUBROOT_TTL
CONST_WORKER_KEEPALIVE_TTL EtcdRendezvous() EtcdRendezvousHandler() EtcdRendezvousRetryImmediately()
EtcdRendezvousRetryableFailure() EtcdStore() RendezvousClosedError() RendezvousError() RendezvousHandler()
RendezvousInfo() RendezvousParameters() RendezvousStoreInfo(MASTER_ADDR_KEY, MASTER_PORT_KEY)
RendezvousTimeoutError() cas_delay create_rdzv_handler parse_rendezvous_endpoint
""",
    "torch.distributed.elastic.rendezvous.etcd_server": """
EtcdServer() find_free_port stop_etcd
""",
    "torch.distributed.elastic.rendezvous.etcd_store": """
EtcdStore() Store() cas_delay
""",
    "torch.distributed.elastic.rendezvous.registry": """
RendezvousHandler() RendezvousParameters() create_handler get_rendezvous_handler handler_registry
""",
    "torch.distributed.elastic.rendezvous.static_tcp_rendezvous": """
PrefixStore() RendezvousHandler() RendezvousInfo() RendezvousParameters() RendezvousStoreInfo(MASTER_ADDR_KEY,
MASTER_PORT_KEY) StaticTCPRendezvous() Store() TCPStore() create_rdzv_handler parse_rendezvous_endpoint
""",
    "torch.distributed.elastic.rendezvous.utils": """
parse_rendezvous_endpoint
""",
    "torch.distributed.elastic.timer": """
FileTimerClient() FileTimerRequest() FileTimerServer() LocalTimerClient() LocalTimerServer() TimerClient()
TimerRequest() TimerServer() configure expires
""",
    "torch.distributed.elastic.timer.api": """
RequestQueue() TimerClient() TimerRequest() TimerServer() configure expires
""",
    "torch.distributed.elastic.timer.debug_info_logging": """
get_logger log_debug_info_for_expired_timers
""",
    "torch.distributed.elastic.timer.file_based_local_timer": """
FileTimerClient() FileTimerRequest() FileTimerServer() TimerClient() TimerRequest() get_logger
log_debug_info_for_expired_timers
""",
    "torch.distributed.elastic.timer.local_timer": """
LocalTimerClient() LocalTimerServer() MultiprocessingRequestQueue() RequestQueue() TimerClient() TimerRequest()
TimerServer()
""",
    "torch.distributed.elastic.utils": """
get_env_variable_or_raise get_socket_with_port macros()
""",
    "torch.distributed.elastic.utils.api": """
get_env_variable_or_raise get_socket_with_port macros()
""",
    "torch.distributed.elastic.utils.data": """
CyclingIterator() ElasticDistributedSampler()
""",
    "torch.distributed.elastic.utils.data.cycling_iterator": """
CyclingIterator()
""",
    "torch.distributed.elastic.utils.data.elastic_distributed_sampler": """
ElasticDistributedSampler() T
""",
    "torch.distributed.elastic.utils.distributed": """
barrier create_c10d_store get_free_port get_logger get_socket_with_port
""",
    "torch.distributed.elastic.utils.log_level": """
get_log_level
""",
    "torch.distributed.elastic.utils.logging": """
get_log_level get_logger
""",
    "torch.distributed.elastic.utils.process_state": """
is_uninterruptible_state read_proc_state
""",
    "torch.distributed.elastic.utils.store": """
DistStoreError() barrier get_all store_timeout synchronize
""",
    "torch.distributed.flight_recorder": """
""",
    "torch.distributed.flight_recorder.components": """
""",
    "torch.distributed.flight_recorder.components.builder": """
Collective() Database() EntryState() FlightRecorderLogger() Group() MatchStateRecord() Membership() NCCLCall() Op()
Traceback() add_stack_id_in_entries align_trace_from_beginning build_collectives build_db build_groups_memberships
check_current_entry_match check_no_missing_dump_files check_version error_analysis find_coalesced_group_p2p_only
find_coalesced_group_with_non_p2p get_version_detail just_print_entries logger match_coalesced_groups_p2p_only
match_coalesced_groups_with_non_p2p tabulate transform_ft
""",
    "torch.distributed.flight_recorder.components.config_manager": """
FlightRecorderLogger() JobConfig() logger
""",
    "torch.distributed.flight_recorder.components.fr_logger": """
FlightRecorderLogger()
""",
    "torch.distributed.flight_recorder.components.loader": """
FlightRecorderLogger() logger read_dir read_dump
""",
    "torch.distributed.flight_recorder.components.types": """
COLLECTIVES Collective() Database() EntryState() FlightRecorderLogger() Group() MatchInfo()
MatchState(FULLY_MATCHED, COLLECTIVE_TYPE_MISMATCH, SIZE_OR_SYNTAX_MISMATCH, COLLECTIVE_STATE_MISMATCH,
COLLECTIVE_DTYPE_MISMATCH, UNDECIDED) MatchStateRecord() Membership() NCCLCall() Op() P2P Ref() T Traceback()
TypeInfo() types
""",
    "torch.distributed.flight_recorder.components.utils": """
Collective() EntryState() FlightRecorderLogger() Group() MatchInfo() MatchState(FULLY_MATCHED,
COLLECTIVE_TYPE_MISMATCH, SIZE_OR_SYNTAX_MISMATCH, COLLECTIVE_STATE_MISMATCH, COLLECTIVE_DTYPE_MISMATCH, UNDECIDED)
MatchStateRecord() Membership() Op() P2P add_stack_id_in_entries align_trace_from_beginning
check_current_entry_match check_no_missing_dump_files check_size_alltoall check_version error_analysis
find_coalesced_group find_coalesced_group_with_non_p2p format_frame format_frames get_version_detail
just_print_entries logger match_coalesced_groups match_coalesced_groups_with_non_p2p match_one_event
""",
    "torch.distributed.flight_recorder.fr_trace": """
JobConfig() build_db main read_dir transform_ft types
""",
    "torch.distributed.fsdp": """
BackwardPrefetch(BACKWARD_PRE, BACKWARD_POST) CPUOffload() CPUOffloadPolicy() DataParallelMeshDims() FSDPModule()
FlatParameter() FullOptimStateDictConfig() FullStateDictConfig() FullyShardedDataParallel()
LocalOptimStateDictConfig() LocalStateDictConfig() MixedPrecision() MixedPrecisionPolicy() OffloadPolicy()
OptimStateDictConfig() OptimStateKeyType(PARAM_NAME, PARAM_ID) ShardedOptimStateDictConfig()
ShardedStateDictConfig() ShardingStrategy(FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD, _HYBRID_SHARD_ZERO2)
StateDictConfig() StateDictSettings() StateDictType(FULL_STATE_DICT, LOCAL_STATE_DICT, SHARDED_STATE_DICT)
UnshardHandle() fully_shard register_fsdp_forward_method share_comm_ctx
""",
    "torch.distributed.fsdp.api": """
BackwardPrefetch(BACKWARD_PRE, BACKWARD_POST) CPUOffload() FullOptimStateDictConfig() FullStateDictConfig()
LocalOptimStateDictConfig() LocalStateDictConfig() MixedPrecision() OptimStateDictConfig()
ShardedOptimStateDictConfig() ShardedStateDictConfig() ShardingStrategy(FULL_SHARD, SHARD_GRAD_OP, NO_SHARD,
HYBRID_SHARD, _HYBRID_SHARD_ZERO2) StateDictConfig() StateDictSettings() StateDictType(FULL_STATE_DICT,
LOCAL_STATE_DICT, SHARDED_STATE_DICT)
""",
    "torch.distributed.fsdp.fully_sharded_data_parallel": """
ActivationWrapper() BackwardPrefetch(BACKWARD_PRE, BACKWARD_POST) CPUOffload() CustomPolicy() DeviceMesh()
FLAT_PARAM FSDP_PREFIX FSDP_WRAPPED_MODULE FlatParamHandle() FlatParameter() FullOptimStateDictConfig()
FullStateDictConfig() FullyShardedDataParallel() HYBRID_SHARDING_STRATEGIES HandleTrainingState(IDLE, FORWARD,
BACKWARD_PRE, BACKWARD_POST, SUMMON_FULL_PARAMS) LOW_PRECISION_HOOKS LocalOptimStateDictConfig()
LocalStateDictConfig() MixedPrecision() ModuleWrapPolicy() OptimStateDictConfig() OptimStateKeyType(PARAM_NAME,
PARAM_ID) ShardedOptimStateDictConfig() ShardedStateDictConfig() ShardingStrategy(FULL_SHARD, SHARD_GRAD_OP,
NO_SHARD, HYBRID_SHARD, _HYBRID_SHARD_ZERO2) StateDictConfig() StateDictSettings() StateDictType(FULL_STATE_DICT,
LOCAL_STATE_DICT, SHARDED_STATE_DICT) TrainingState(IDLE, FORWARD_BACKWARD, SUMMON_FULL_PARAMS)
""",
    "torch.distributed.fsdp.sharded_grad_scaler": """
ProcessGroup(UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, CUSTOM) ShardedGradScaler()
""",
    "torch.distributed.fsdp.wrap": """
CustomPolicy() ModuleWrapPolicy() _or_policy _wrap_module_cls_individually always_wrap_policy enable_wrap
lambda_auto_wrap_policy size_based_auto_wrap_policy transformer_auto_wrap_policy wrap
""",
    "torch.distributed.launch": """
get_args_parser launch main parse_args run
""",
    "torch.distributed.launcher": """
LaunchConfig() elastic_launch() launch_agent
""",
    "torch.distributed.launcher.api": """
ChildFailedError() DefaultLogsSpecs() HealthCheckServer() LaunchConfig() LocalElasticAgent() LogsSpecs()
RendezvousParameters() SignalException() TORCHELASTIC_HEALTH_CHECK_PORT WorkerSpec() create_healthcheck_server
elastic_launch() get_logger launch_agent parse_rendezvous_endpoint
""",
    "torch.distributed.logging_handlers": """
""",
    "torch.distributed.nn": """
ReduceOp(SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM) RemoteModule() all_gather all_reduce all_to_all
all_to_all_single broadcast gather group(WORLD) reduce reduce_scatter scatter
""",
    "torch.distributed.nn.api": """
""",
    "torch.distributed.nn.api.remote_module": """
RemoteModule() T
""",
    "torch.distributed.nn.functional": """
ReduceOp(SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM) all_gather all_reduce all_to_all
all_to_all_single broadcast gather group(WORLD) reduce reduce_scatter scatter
""",
    "torch.distributed.nn.jit": """
""",
    "torch.distributed.nn.jit.instantiator": """
get_arg_return_types_from_interface get_remote_module_template instantiate_non_scriptable_remote_module_template
instantiate_scriptable_remote_module_template
""",
    "torch.distributed.optim": """
DistributedOptimizer() PostLocalSGDOptimizer() ZeroRedundancyOptimizer() as_functional_optim
""",
    "torch.distributed.optim.apply_optimizer_in_backward": """
""",
    "torch.distributed.optim.functional_adadelta": """
""",
    "torch.distributed.optim.functional_adagrad": """
""",
    "torch.distributed.optim.functional_adam": """
""",
    "torch.distributed.optim.functional_adamax": """
""",
    "torch.distributed.optim.functional_adamw": """
""",
    "torch.distributed.optim.functional_rmsprop": """
""",
    "torch.distributed.optim.functional_rprop": """
""",
    "torch.distributed.optim.functional_sgd": """
""",
    "torch.distributed.optim.named_optimizer": """
FSDP() ShardedTensor()
""",
    "torch.distributed.optim.optimizer": """
DistributedOptimizer() RRef() functional_optim_map
""",
    "torch.distributed.optim.post_localSGD_optimizer": """
PostLocalSGDOptimizer()
""",
    "torch.distributed.optim.utils": """
as_functional_optim functional_optim_map register_functional_optim
""",
    "torch.distributed.optim.zero_redundancy_optimizer": """
Join() JoinHook() Joinable() ZeroRedundancyOptimizer() functional_optim_map
""",
    "torch.distributed.pipelining": """
Pipe() PipelineStage() Schedule1F1B() ScheduleDualPipeV() ScheduleGPipe() ScheduleInterleaved1F1B()
ScheduleInterleavedZeroBubble() ScheduleLoopedBFS() ScheduleZBVZeroBubble() SplitPoint(BEGINNING, END) build_stage
pipe_split pipeline
""",
    "torch.distributed.pipelining._utils": """
DTensor() GetMeshCallback() InferenceMode(STATIC, DYNAMIC) PipeInfo() PipeliningMetadataError() TYPE_CHECKING
extract_tensor_meta extract_tensor_metas flatten_args flatten_args_detach generate_rank_to_stage_mapping
generate_stage_to_rank_mapping to_local_if_dtensor validate_and_normalize_to_tuple validate_metadata
validate_static_arg_grad_correspondence validate_tensors_metadata
""",
    "torch.distributed.pipelining.microbatch": """
DEFAULT_CHUNK_DIM DTensor() TensorChunkSpec() merge_chunks split_args_kwargs_into_chunks sum_reducer
""",
    "torch.distributed.pipelining.schedules": """
B BACKWARD_INPUT BACKWARD_WEIGHT F FORWARD FSDPModule() FULL_BACKWARD I InferenceMode(STATIC, DYNAMIC) OVERLAP_F_B
PipelineScheduleMulti() PipelineScheduleSingle() PipelineStage() RECV_B RECV_F REDUCE_GRAD RESHARD SEND_B SEND_F
Schedule1F1B() ScheduleDualPipeV() ScheduleGPipe() ScheduleInterleaved1F1B() ScheduleInterleavedZeroBubble()
ScheduleLoopedBFS() ScheduleZBVZeroBubble() TensorChunkSpec() UNSHARD UnshardHandle() W
generate_rank_to_stage_mapping generate_stage_to_rank_mapping get_schedule_class merge_chunks
split_args_kwargs_into_chunks
""",
    "torch.distributed.pipelining.stage": """
DTensor() FSDPModule() GetMeshCallback() InferenceMode(STATIC, DYNAMIC) PipeInfo() PipelineStage()
PipeliningMetadataError() ReplicateModule() build_stage extract_tensor_meta extract_tensor_metas flatten_args
fully_shard map_debug_info replicate stage_backward stage_backward_input stage_backward_weight to_local_if_dtensor
validate_and_normalize_to_tuple validate_static_arg_grad_correspondence validate_tensors_metadata
""",
    "torch.distributed.remote_device": """
""",
    "torch.distributed.rendezvous": """
FileStore() Store() TCPStore() default_pg_timeout register_rendezvous_handler rendezvous
""",
    "torch.distributed.rpc": """
AllGatherStates() BackendType(TENSORPIPE) PyRRef() RRef() RemoteProfilerManager() RpcAgent() RpcBackendOptions()
Store() TensorPipeAgent() TensorPipeRpcBackendOptions() WorkerInfo() _is_current_rpc_agent_set enable_gil_profiling
get_rpc_timeout get_worker_info init_rpc is_available method_factory new_method remote rpc_async rpc_sync shutdown
""",
    "torch.distributed.rpc._utils": """
""",
    "torch.distributed.rpc.api": """
AllGatherStates() DEFAULT_SHUTDOWN_TIMEOUT PyRRef() PythonUDF() RPCExecMode(SYNC, ASYNC, ASYNC_JIT, REMOTE) RRef()
RemoteProfilerManager() T TYPE_CHECKING UNSET_RPC_TIMEOUT WorkerInfo() _require_initialized docstring
get_rpc_timeout get_worker_info method method_factory method_name new_method remote rpc_async rpc_sync shutdown
""",
    "torch.distributed.rpc.backend_registry": """
BackendType(TENSORPIPE) BackendValue() backend_registered construct_rpc_backend_options init_backend
register_backend
""",
    "torch.distributed.rpc.constants": """
DEFAULT_INIT_METHOD DEFAULT_NUM_WORKER_THREADS DEFAULT_PROCESS_GROUP_TIMEOUT DEFAULT_RPC_TIMEOUT_SEC
DEFAULT_SHUTDOWN_TIMEOUT UNSET_RPC_TIMEOUT
""",
    "torch.distributed.rpc.functions": """
async_execution
""",
    "torch.distributed.rpc.internal": """
PythonUDF() RPCExecMode(SYNC, ASYNC, ASYNC_JIT, REMOTE) RemoteException() deserialize serialize
""",
    "torch.distributed.rpc.options": """
TensorPipeRpcBackendOptions()
""",
    "torch.distributed.rpc.rref_proxy": """
RRefProxy() UNSET_RPC_TIMEOUT rpc_async
""",
    "torch.distributed.rpc.server_process_global_profiler": """
""",
    "torch.distributed.run": """
DefaultLogsSpecs() LaunchConfig() LogsSpecs() REMAINDER Std(NONE, OUT, ERR, ALL) check_env() config_from_args
determine_local_world_size elastic_launch() env() get_args_parser get_logger get_rdzv_endpoint get_use_env macros()
main parse_args parse_min_max_nnodes record run run_script_path
""",
    "torch.distributed.tensor": """
DTensor() DeviceMesh() Partial(LINEAR_REDUCE_OPS, ALL_REDUCE_OPS) Placement() Replicate() Shard() distribute_module
distribute_tensor empty full init_device_mesh ones rand randn zeros
""",
    "torch.distributed.tensor._utils": """
DTensorSpec() DeviceMesh() ExplicitRedistributionContext() OpSchema() Partial(LINEAR_REDUCE_OPS, ALL_REDUCE_OPS)
Placement() Replicate() Shard() assert_no_mixed_partial_types compute_global_tensor_shape
compute_local_shape_and_global_offset compute_local_stride compute_local_tensor_info maybe_run_for_local_tensor
normalize_to_torch_size redistribute_cost try_find_mesh_from_args
""",
    "torch.distributed.tensor.debug": """
CommDebugMode() visualize_sharding
""",
    "torch.distributed.tensor.device_mesh": """
DeviceMesh() init_device_mesh
""",
    "torch.distributed.tensor.experimental": """
DTensor() context_parallel implicit_replication local_map register_sharding
""",
    "torch.distributed.tensor.experimental._attention": """
_CausalBehavior(SKIP, NOT_IS_CAUSAL, IS_CAUSAL) _ContextParallel() _HeadTailLoadBalancer() _LoadBalancer()
_PTRRLoadBalancer() _PerDocumentHeadTailLoadBalancer() _RotateMethod(ALL_TO_ALL, ALL_GATHER) _context_parallel_shard
_cp_options _disable_context_parallel_dispatcher _enable_context_parallel_dispatcher _is_causal_behavior
_templated_ring_attention context_parallel context_parallel_unshard set_rotate_method
""",
    "torch.distributed.tensor.parallel": """
ColwiseParallel() ParallelStyle() PrepareModuleInput() PrepareModuleInputOutput() PrepareModuleOutput()
RowwiseParallel() SequenceParallel() loss_parallel parallelize_module
""",
    "torch.distributed.tensor.parallel.api": """
DeviceMesh() ParallelStyle() parallelize_module
""",
    "torch.distributed.tensor.parallel.ddp": """
""",
    "torch.distributed.tensor.parallel.fsdp": """
ChunkShardingSpec() DShard() DTensor() DTensorExtensions() DeviceMesh() FSDPExtensions() Replicate() Shard()
ShardMetadata() ShardedTensor() ShardedTensorMetadata() TensorProperties()
""",
    "torch.distributed.tensor.parallel.input_reshard": """
DTensor() DeviceMesh() Replicate() Shard() input_reshard
""",
    "torch.distributed.tensor.parallel.loss": """
DTensor() DTensorSpec() DeviceMesh() Partial(LINEAR_REDUCE_OPS, ALL_REDUCE_OPS) Placement() Reduction(NONE, MEAN,
SUM) Replicate() Shard() TensorMeta() customized_loss_ops loss_parallel normalize_dim replicate_reduction_dims
""",
    "torch.distributed.tensor.parallel.style": """
ColwiseParallel() DTensor() DeviceMesh() ParallelStyle() Placement() PrepareModuleInput() PrepareModuleInputOutput()
PrepareModuleOutput() Replicate() RowwiseParallel() SequenceParallel() Shard() distribute_module distribute_tensor
""",
    "torch.distributed.tensor.placement_types": """
DeviceMesh() MaskBuffer() Partial(LINEAR_REDUCE_OPS, ALL_REDUCE_OPS) Placement() Replicate() Shard() _StridedShard()
fill_empty_tensor_to_shards maybe_run_for_local_tensor mesh_broadcast mesh_scatter pad_tensor shard_dim_alltoall
unpad_tensor
""",
    "torch.distributed.utils": """
Q R S T _sync_module_states _verify_param_shape_across_processes
""",
    "torch.mps": """
Event() compile_shader current_allocated_memory device_count driver_allocated_memory empty_cache get_rng_state
is_available load_metallib manual_seed recommended_max_memory seed set_per_process_memory_fraction set_rng_state
synchronize
""",
    "torch.mtia": """
DeferredMtiaCallError() MTIAGraph() StreamContext() attach_out_of_memory_observer current_device current_stream
default_generators default_stream device() device_count empty_cache get_device_capability get_device_properties
get_rng_state get_rng_state_all graph() graph_pool_handle init initial_seed is_available is_bf16_supported
is_initialized manual_seed manual_seed_all max_memory_allocated memory_allocated memory_stats record_memory_history
reset_peak_memory_stats seed seed_all set_device set_rng_state set_rng_state_all set_stream snapshot stream
synchronize
""",
    "torch.nested": """
as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged to_padded_tensor
""",
    "torch.numa.binding": """
AffinityMode(NODE, SOCKET, EXCLUSIVE, CORE_COMPLEX) K NumaOptions() V
""",
    "torch.onnx": """
ExportableModule() InputObserver() JitScalarType(UINT8, INT8, INT16, INT, INT64, HALF, FLOAT, DOUBLE, COMPLEX32,
COMPLEX64, COMPLEX128, BOOL, QINT8, QUINT8, QINT32, BFLOAT16, FLOAT8E5M2, FLOAT8E4M3FN, FLOAT8E5M2FNUZ,
FLOAT8E4M3FNUZ, UNDEFINED) ONNXProgram() OnnxExporterError() TYPE_CHECKING export is_in_onnx_export producer_name
producer_version register_custom_op_symbolic select_model_mode_for_export unregister_custom_op_symbolic
""",
    "torch.onnx.symbolic_helper": """
args_have_same_dtype cast_pytorch_to_onnx check_training_mode dequantize_helper is_complex_value parse_args
pytorch_name_to_type quantize_helper quantized_args requantize_bias_helper scalar_name_to_pytorch
scalar_type_to_onnx scalar_type_to_pytorch_type
""",
    "torch.onnx.symbolic_opset11": """
Delete add append arange argsort atleast_1d atleast_2d atleast_3d cat chunk clamp clamp_max clamp_min
constant_pad_nd cumsum embedding_bag embedding_renorm flatten gather hardtanh hstack im2col index index_copy
index_fill index_put insert linalg_det linalg_vector_norm logdet masked_scatter masked_select mm narrow normal pad
pixel_shuffle pop prim_constant_chunk reflection_pad relu6 remainder replication_pad round scatter select size sort
split split_with_sizes squeeze stack topk unbind unique_dim unsqueeze vstack
""",
    "torch.onnx.symbolic_opset12": """
argmax argmin binary_cross_entropy_with_logits celu cross_entropy_loss dropout einsum ge le native_dropout nll_loss
nll_loss2d nll_loss_nd outer pow tensordot unfold
""",
    "torch.onnx.symbolic_opset13": """
diagonal fake_quantize_per_channel_affine fake_quantize_per_tensor_affine frobenius_norm log_softmax nonzero_numpy
quantized_conv1d quantized_conv1d_relu quantized_conv2d quantized_conv2d_relu quantized_conv3d quantized_conv3d_relu
quantized_conv_transpose1d quantized_conv_transpose2d quantized_conv_transpose3d quantized_linear
quantized_linear_relu repeat_interleave softmax split split_with_sizes tensor_split tile unbind unflatten
unsafe_chunk unsafe_split unsafe_split_with_sizes where
""",
    "torch.onnx.symbolic_opset14": """
batch_norm hardswish quantized_hardswish reshape scaled_dot_product_attention tril triu
""",
    "torch.onnx.symbolic_opset9": """
abs acos adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
adaptive_max_pool3d add addcmul addmm alias amax amin aminmax arange argmax argmin as_strided as_tensor asin atan
atan2 avg_pool1d avg_pool2d avg_pool3d baddbmm batch_norm bernoulli bitwise_not bitwise_or bmm broadcast_tensors
broadcast_to bucketize cat cdist ceil clamp clamp_max clamp_min clone constant_pad_nd contiguous conv1d conv2d
conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convert_element_type convolution cos
cosine_similarity cross cumsum detach dim div dot dropout elu embedding embedding_bag empty empty_like eq erf exp
expand expand_as eye fill flatten floor floor_divide floordiv frobenius_norm full full_like gather ge gelu
get_pool_ceil_padding glu group_norm gru gt hann_window hardshrink hardsigmoid hardswish hardtanh index index_add
index_copy index_fill index_put index_select instance_norm is_floating_point is_pinned isnan item kl_div layer_norm
le leaky_relu lerp lift linalg_cross linalg_matrix_norm linalg_norm linalg_vector_norm linear linspace log log10
log1p log2 log_sigmoid log_softmax logical_and logical_not logical_or logical_xor logit logsumexp lstm lstm_cell lt
masked_fill masked_fill_ matmul max max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
max_pool3d_with_indices maximum meshgrid min minimum mish mm movedim mse_loss mul multinomial mv narrow
native_layer_norm ne neg new_empty new_full new_ones new_zeros nonzero nonzero_numpy noop_complex_operators norm
numel numpy_T one_hot ones ones_like onnx_placeholder pad pairwise_distance permute pixel_shuffle pixel_unshuffle
pow prelu prim_constant prim_constant_chunk prim_constant_split prim_data prim_device prim_dtype prim_if prim_layout
prim_list_construct prim_list_unpack prim_loop prim_max prim_min prim_shape prim_tolist prim_tuple_construct
prim_type prim_unchecked_cast prim_uninitialized rand rand_like randint randint_like randn randn_like reciprocal
reflection_pad relu relu6 remainder repeat repeat_interleave replication_pad reshape reshape_as rnn_relu rnn_tanh
roll rrelu rsqrt rsub scalar_tensor scatter scatter_add select selu sigmoid sign silu sin size slice softmax
softplus softshrink sort split split_with_sizes sqrt square squeeze stack std std_mean sub t take tan tanh
tanhshrink tensor threshold to topk transpose true_divide type_as unbind unfold unsafe_chunk unsafe_split
unsafe_split_with_sizes unsqueeze unsupported_complex_operators unused upsample_bilinear2d upsample_linear1d
upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d var var_mean view view_as where
wrap_logical_op_with_cast_to wrap_logical_op_with_negation zero zeros zeros_like
""",
    "torch.onnx.utils": """
disable_apex_o2_state_dict_hook export exporter_context model_signature register_custom_op_symbolic
select_model_mode_for_export setup_onnx_logging unconvertible_ops unpack_quantized_tensor
unregister_custom_op_symbolic warn_on_static_input_change
""",
    "torch.onnx.verification": """
VerificationInfo() verify_onnx_program
""",
    "torch.package": """
Directory() EmptyMatchError() GlobGroup() Importer() ObjMismatchError() ObjNotFoundError() OrderedImporter()
PackageExporter() PackageImporter() PackagingError() is_from_package sys_importer
""",
    "torch.xpu": """
Event() MemPool() Stream() StreamContext() TYPE_CHECKING XPUGraph() XPUPluggableAllocator() can_device_access_peer
change_current_allocator clock_rate current_device current_stream default_generators device() device_count
device_memory_used device_of() empty_cache get_arch_list get_device_capability get_device_name get_device_properties
get_gencode_flags get_per_process_memory_fraction get_rng_state get_rng_state_all get_stream_from_external graph()
graph_pool_handle init initial_seed is_available is_bf16_supported is_current_stream_capturing is_initialized
is_tf32_supported make_graphed_callables manual_seed manual_seed_all max_memory_allocated max_memory_reserved
mem_get_info memory_allocated memory_reserved memory_snapshot memory_stats memory_stats_as_nested_dict memory_usage
power_draw reset_accumulated_memory_stats reset_peak_memory_stats seed seed_all set_device
set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream stream synchronize temperature
use_mem_pool utilization
""",
}
