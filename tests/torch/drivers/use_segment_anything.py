from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, Sam, TwoWayTransformer

import torch

torch.manual_seed(0)
s = Sam(
    ImageEncoderViT(
        depth=2,
        embed_dim=32,
        img_size=64,
        mlp_ratio=2,
        num_heads=2,
        patch_size=16,
        qkv_bias=True,
        use_rel_pos=True,
        global_attn_indexes=[1],
        window_size=2,
        out_chans=16,
    ),
    PromptEncoder(embed_dim=16, image_embedding_size=(4, 4), input_image_size=(64, 64), mask_in_chans=4),
    MaskDecoder(
        num_multimask_outputs=3,
        transformer=TwoWayTransformer(depth=1, embedding_dim=16, mlp_dim=32, num_heads=2),
        transformer_dim=16,
        iou_head_depth=2,
        iou_head_hidden_dim=16,
    ),
).eval()
o = s(
    [
        {
            "image": torch.rand(3, 64, 64) * 255,
            "original_size": (64, 64),
            "point_coords": torch.tensor([[[20.0, 20.0]]]),
            "point_labels": torch.ones(1, 1),
        }
    ],
    multimask_output=True,
)
print({k: (tuple(v.shape), round(float(v.float().abs().mean()), 4)) for k, v in o[0].items()})
