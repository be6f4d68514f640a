"""Operators that torch's tags do not sort, listed by what they do on a CUDA device.

Pointwise operators, reductions and views are recognised by their tags and schemas. The ones below
were read one by one: the shapes of their results follow from the shapes of their arguments, and
their CUDA kernels return no value to the host.
"""

from __future__ import annotations

_SILENT = """
    _assert_scalar _assert_tensor_metadata _functional_assert_scalar _has_same_storage_numel
    _reshape_alias _unsafe_view alias as_strided_ detach detach_ is_same_size is_set_to lift
    lift_fresh record_stream resize_ resize_as_ set_ squeeze_ sym_constrain_range
    sym_constrain_range_for_size sym_numel sym_size sym_storage_offset sym_stride t_ transpose_
    unsafe_split unsafe_split_with_sizes unsqueeze_ _resize_output_ _lazy_clone
    q_scale q_zero_point q_per_channel_axis qscheme
    is_pinned is_coalesced dense_dim sparse_dim _efficientzerotensor
    """

SILENT = frozenset(_SILENT.split())
"""Metadata, and views that autograd does not call views: no work and no memory."""

_ALLOCATING = """
    empty empty_like empty_permuted empty_strided new_empty new_empty_strided
    """

ALLOCATING = frozenset(_ALLOCATING.split())
"""Memory, and nothing put into it."""

_FILLING = """
    arange bartlett_window blackman_window eye fill full full_like hamming_window hann_window
    kaiser_window linspace logspace new_full new_ones new_zeros ones ones_like range scalar_tensor
    fft_fftfreq fft_rfftfreq tril_indices triu_indices zero zeros zeros_like
"""

_DRAWING = """
    bernoulli binomial cauchy exponential geometric log_normal poisson rand rand_like randint
    randint_like randn randn_like random randperm uniform _sample_dirichlet _standard_gamma
    _standard_gamma_grad _dirichlet_grad native_dropout _fused_dropout rrelu_with_noise normal_
    normal_functional rrelu_with_noise_functional rrelu_with_noise_backward
"""

_MULTIPLYING = """
    _addmm_activation _int_mm _grouped_mm _scaled_mm addbmm addmm addmv addr baddbmm bmm dot linear
    linear_backward matmul_backward mm mv vdot _trilinear _cdist_forward _cdist_backward
    _euclidean_dist _pdist_forward _pdist_backward dist trace
"""

_CONVOLVING = """
    _conv_depthwise2d _convolution _slow_conv2d_backward _slow_conv2d_forward col2im
    conv_depthwise3d conv_tbc convolution convolution_backward convolution_overrideable
    convolution_backward_overrideable im2col slow_conv3d_forward slow_conv_dilated2d
    slow_conv_dilated3d slow_conv_transpose2d slow_conv_transpose3d _nnpack_spatial_convolution
    mkldnn_convolution channel_shuffle pixel_shuffle pixel_unshuffle
"""

_POOLING_AND_SAMPLING = """
    _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d
    _adaptive_avg_pool3d_backward adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
    adaptive_avg_pool3d_backward adaptive_max_pool2d adaptive_max_pool2d_backward
    adaptive_max_pool3d
    adaptive_max_pool3d_backward affine_grid_generator avg_pool1d avg_pool2d avg_pool2d_backward
    avg_pool3d avg_pool3d_backward constant_pad_nd fractional_max_pool2d
    fractional_max_pool2d_backward fractional_max_pool3d fractional_max_pool3d_backward
    grid_sampler_2d grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward
    max_pool2d_backward max_pool2d_with_indices max_pool2d_with_indices_backward
    max_pool3d_with_indices max_pool3d_with_indices_backward max_unpool2d max_unpool3d
    reflection_pad1d reflection_pad1d_backward reflection_pad2d reflection_pad2d_backward
    reflection_pad3d reflection_pad3d_backward replication_pad1d replication_pad1d_backward
    replication_pad2d replication_pad2d_backward replication_pad3d replication_pad3d_backward
    _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward _upsample_bilinear2d_aa
    _upsample_bilinear2d_aa_backward _upsample_nearest_exact1d _upsample_nearest_exact1d_backward
    _upsample_nearest_exact2d _upsample_nearest_exact2d_backward _upsample_nearest_exact3d
    _upsample_nearest_exact3d_backward upsample_bicubic2d upsample_bicubic2d_backward
    upsample_bilinear2d upsample_bilinear2d_backward upsample_linear1d upsample_linear1d_backward
    upsample_nearest1d upsample_nearest1d_backward upsample_nearest2d upsample_nearest2d_backward
    upsample_nearest3d upsample_nearest3d_backward upsample_trilinear3d
    upsample_trilinear3d_backward
"""

_NORMALIZING = """
    _batch_norm_no_update _batch_norm_with_update _batch_norm_with_update_functional
    _native_batch_norm_legit _native_batch_norm_legit_functional
    _native_batch_norm_legit_no_training _weight_norm_interface
    _weight_norm_interface_backward batch_norm_backward batch_norm_backward_elemt
    batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
    batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats native_batch_norm
    native_batch_norm_backward native_group_norm native_group_norm_backward native_layer_norm
    native_layer_norm_backward native_norm renorm _fused_rms_norm _fused_rms_norm_backward
    _log_softmax _log_softmax_backward_data _masked_softmax _masked_softmax_backward _safe_softmax
    _softmax _softmax_backward_data log_softmax softmax cudnn_batch_norm
"""

_ATTENDING_AND_RECURRING = """
    _efficient_attention_backward _efficient_attention_forward _flash_attention_backward
    _flash_attention_forward _native_multi_head_attention _scaled_dot_product_efficient_attention
    _scaled_dot_product_efficient_attention_backward
    _scaled_dot_product_flash_attention_backward
    _scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu
    _scaled_dot_product_flash_attention_for_cpu_backward _thnn_fused_gru_cell
    _thnn_fused_gru_cell_backward _thnn_fused_lstm_cell _thnn_fused_lstm_cell_backward_impl
    _transform_bias_rescale_qkv _transformer_encoder_layer_fwd _cudnn_rnn _cudnn_rnn_backward
"""

_LOSSES = """
    binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits huber_loss
    huber_loss_backward log_sigmoid_backward log_sigmoid_forward mse_loss mse_loss_backward
    multi_margin_loss multi_margin_loss_backward multilabel_margin_loss_backward
    multilabel_margin_loss_forward nll_loss2d_backward nll_loss2d_forward nll_loss_backward
    nll_loss_forward smooth_l1_loss smooth_l1_loss_backward soft_margin_loss
    soft_margin_loss_backward
"""

_GRADIENTS = """
    diagonal_backward elu_backward glu glu_backward glu_backward_jvp glu_jvp hardshrink_backward
    hardsigmoid_backward hardswish hardswish_backward hardtanh_backward leaky_relu_backward
    select_backward slice_backward softplus_backward softshrink_backward unfold_backward
    _prelu_kernel _prelu_kernel_backward masked_scatter_backward
"""

_ARRANGING = """
    _chunk_cat _stack as_strided_scatter block_diag cat clone complex copy diag_embed
    diagonal_scatter flip polar repeat roll rot90 select_scatter slice_scatter stack tril triu
    tril_ triu_ unfold_copy
"""

_GATHERING = """
    _embedding_bag _embedding_bag_backward _embedding_bag_dense_backward
    _embedding_bag_forward_only _embedding_bag_per_sample_weights_backward _unsafe_masked_index
    _unsafe_masked_index_put_accumulate embedding embedding_dense_backward gather index_add
    index_copy index_reduce index_select masked_scatter nonzero_static put scatter scatter_add
    scatter_reduce take _segment_reduce_backward
"""

_ORDERING_AND_SCANNING = """
    _aminmax _cummax_helper _cummin_helper _logcumsumexp bucketize cummax cummin cumprod cumsum
    kthvalue logcumsumexp median nanmedian sort topk _compute_linear_combination
"""

_SOLVING = """
    _cholesky_solve_helper _spsolve cholesky_inverse cholesky_solve geqrf lu_unpack ormqr
    triangular_solve
"""

_CHECKING = """
    _amp_foreach_non_finite_check_and_unscale _amp_update_scale _assert_async
    _functional_assert_async _is_all_true _is_any_true hash_tensor
"""

_POINTWISE_WITHOUT_THE_TAG = """
    _fake_quantize_learnable_per_channel_affine _fake_quantize_learnable_per_tensor_affine
    _fake_quantize_learnable_per_channel_affine_backward
    _fake_quantize_learnable_per_tensor_affine_backward
    _fake_quantize_per_tensor_affine_cachemask_tensor_qparams
    fake_quantize_per_channel_affine_cachemask fake_quantize_per_tensor_affine_cachemask
    __irshift__ __ilshift__ abs copysign eq floor_divide gcd ge gelu gt heaviside lcm le lt mish ne
    threshold dequantize int_repr _add_relu _masked_scale _conj_physical view_as_complex_copy
"""

LAUNCHING = frozenset(
    (
        _FILLING
        + _DRAWING
        + _MULTIPLYING
        + _CONVOLVING
        + _POOLING_AND_SAMPLING
        + _NORMALIZING
        + _ATTENDING_AND_RECURRING
        + _LOSSES
        + _GRADIENTS
        + _ARRANGING
        + _GATHERING
        + _ORDERING_AND_SCANNING
        + _SOLVING
        + _CHECKING
        + _POINTWISE_WITHOUT_THE_TAG
    ).split()
)
"""One operation each, and nothing that the host waits for."""
