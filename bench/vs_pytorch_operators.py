"""Operators that vs_pytorch.py measures beside its kernels: whole families at a size that a program would give them.

Each line is a name and an expression of `t` (torch), `F` (its functions of networks) and tensors that `_tensors` makes.
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Work = Callable[[], object]
    Case = tuple[str, Callable[[], Work]]

FORWARD = """
    x.sinh() x.cosh() x.asin() x.acos() x.atan() x.asinh() (x+1.1).acosh() u.atanh() x.floor() x.trunc() x.frac()
    x.sgn() x.digamma() x.lgamma() x.erfinv() x.logit(0.1) x.i0() x.nan_to_num() x.square() x.neg() x.signbit()
    x.isfinite() x.sinc() x.hypot(y) x.fmod(y) x.fmax(y) x.copysign(y) x.logaddexp(y) x.logaddexp2(y) x.xlogy(p)
    x.nextafter(y) x.ldexp(k) x.frexp() x.floor_divide(y) x.div(y,rounding_mode='trunc') x.heaviside(y)
    x.addcdiv(y,p) x.lerp(y,p) t.special.entr(p) t.special.ndtr(x) t.special.ndtri(u) t.special.log_ndtr(x)
    t.special.i0e(x) t.special.i1(x) t.special.erfcx(x) t.special.bessel_j0(x) t.special.xlog1py(x,p)
    t.special.zeta(p+1,p) t.polygamma(1,p) t.mvlgamma(p+3,2) t.bitwise_and(k,l) k+l k*l k//l k%l k<<2 k>>l ~k k<l
    k.abs() k.clamp(2,50) k.sum() k.sum(0) k.sum(1) k.prod(1) k.amax(1) k.cumsum(1) k.sort(1) k.float() k/l k**2
    k.max(1) k.min() k.bitwise_xor(l) k.gcd(l) s+s s*s s.sum() b8+b8 b8.sum() b8.float() b8*2 i16+i16 m&n m|n ~m
    m.any() m.any(1) m.all(0) m.sum() m.sum(1) m.float() m.long() m.logical_xor(n) x.logical_and(y) x>y x.ne(y)
    x.isclose(y) x.allclose(x) m.nonzero() m.argwhere() c+d c*d c/d c.abs() c.angle() c.exp()
    c.conj().resolve_conj() c.real.clone() c.sum() c.sum(1) c.mT@d t.view_as_real(c).clone() t.polar(p,y)
    t.complex(x,y) t.fft.fft(x) t.fft.rfft(x) t.fft.irfft(c) t.fft.fft2(x) t.fft.fftn(c) t.fft.fft(x,dim=0)
    t.fft.rfft(w) t.fft.fftshift(x) t.stft(w,512,128,window=h,return_complex=True) t.linalg.inv(q) t.linalg.det(q)
    t.linalg.solve(q,q) t.linalg.cholesky(r) t.linalg.qr(x) t.linalg.svd(f) t.linalg.eigh(r) t.linalg.eig(f)
    t.linalg.lstsq(f,f) t.linalg.pinv(f) t.linalg.matrix_exp(f) t.linalg.matrix_power(f,5) t.linalg.slogdet(q)
    t.linalg.lu(q) t.linalg.inv(g) t.linalg.cholesky(e) t.linalg.solve(g,g) t.linalg.det(g) t.linalg.eigh(e)
    t.linalg.svd(g) t.linalg.cross(z[:,:3],z[:,3:6],dim=1) t.linalg.norm(x) t.linalg.matrix_norm(x,1)
    t.linalg.solve_triangular(r,q,upper=True) x.mv(v) v.dot(v) t.outer(v,v) t.addmm(y,x,y) t.addmv(v,x,v)
    t.addr(x,v,v) t.bmm(g,g) t.baddbmm(g,g,g) g@z4 g4@g4 t.einsum('bij,bjk->bik',g,g)
    t.einsum('bhid,bhjd->bhij',g4,g4) t.einsum('ij,kj->ik',x,y) t.tensordot(x,y,1) t.kron(f[:32,:32],f[:32,:32])
    t.chain_matmul(x,y,x) x.t()@y x@y.t() x.bfloat16()@y.bfloat16() k@l t.cdist(x,y) t.cdist(x,y,p=1.) t.pdist(f)
    t.cdist(x[:,:3],y[:,:3],p=1.) t.cdist(f,f,p=3.) t.pdist(f,1.5) s@s i16@i16 t.kron(v,v[:64]) x.t().mv(v)
    t.linalg.solve_triangular(r,q[:,:1],upper=True)
    x.mean() x.mean(0) x.std() x.std(0) x.std(1) t.var_mean(x,1) x.amin(1) x.aminmax() x.argmin() x.argmax(0)
    x.nansum() x.nanmean(1) x.count_nonzero() x.logsumexp(0) x.norm(dim=1) x.norm(p=3) x.quantile(.3,1)
    x.nanmedian() x.mode(1) x.prod() x.cumprod(1) x.cummax(1) x.cummin(0) x.logcumsumexp(1) x.diff() t.trapezoid(x)
    t.cov(f) t.corrcoef(f) x.sum(1,keepdim=True) z.sum(1) z.mean((0,2)) z.amax(1) z.softmax(1)
    z.permute(2,0,1).contiguous() z.transpose(0,1).contiguous() z.sum(1,keepdim=True) z.var(1) z.argmax(1)
    z.cumsum(1) z.flip(1) z.roll(2,1) z.sort(1) z.max(1) z.norm(dim=1) z.unsqueeze(1).expand(-1,3,-1,-1).clone()
    t.searchsorted(o,v) t.bucketize(x,o) x.histc(50) t.unique(k) t.unique_consecutive(k) t.unique(k[:,:2],dim=0)
    x.topk(50) x.topk(3,0) v.sort() w.sort() w.topk(100) w.argsort() w.cumsum(0) w.median() w.sum() w.msort()
    x.take(ix) x.take_along_dim(ij,1) x.index_select(0,j) x[j,j] x[:,j] x[j[:,None],j] x[m] x.masked_fill(m,0)
    x.masked_scatter(m,y) x.index_put((j,),y) x.index_put((j,),y,accumulate=True) x.index_copy(0,j,y)
    x.index_fill(1,j,0) x.scatter(1,ij,y) x.scatter_reduce(1,ij,y,'amax') x.scatter_reduce(0,ij,y,'mean')
    x.put(ix,y) x.where(m,0.) t.where(m,x,y) x.diagonal().clone() t.diag(v) t.diag_embed(f) x.triu() x.tril(3)
    t.block_diag(f,f) t.cat([x,y]) t.cat([x,y,x],1) t.stack([x,y],2) t.hstack([x,y]) t.column_stack([v,v])
    t.meshgrid(v,v,indexing='ij') x.repeat(2,2) x.repeat_interleave(3,0) x.repeat_interleave(2,1) x.tile(2)
    x.rot90() x.fliplr() x.unfold(0,4,2).contiguous() x.view(16,64,16,64).permute(0,2,1,3).contiguous() x.half()
    x.half().float() x.double() x.bfloat16() x.int() x.byte() x.to(t.complex64) t.arange(1000000) t.arange(0.,1e6)
    t.linspace(0,1,1000000) t.logspace(0,1,100000) t.zeros(1000000) t.ones(1000,1000) t.full((1000,1000),3.)
    t.eye(1000) t.rand(1000,1000) t.randn(1000,1000) t.randint(10,(1000,1000)) t.randperm(100000) t.normal(x,p)
    t.bernoulli(u) t.multinomial(p,5) t.poisson(p) t.binomial(p.round()*8,u) t._standard_gamma(p)
    x.clone().cauchy_() x.clone().geometric_(.3) x.clone().log_normal_() t.rand(1000,1000,dtype=t.float64)
    t.randn(1000,1000,dtype=t.bfloat16) t.tril_indices(1000,1000) F.one_hot(j,1024) F.embedding(ij,f)
    F.embedding_bag(ij,f) F.pad(a,(1,1,1,1)) F.pad(a,(2,2,2,2),'reflect') F.pad(a,(1,1,1,1),'replicate')
    F.pad(a,(1,1,1,1),'circular') F.pixel_shuffle(a,2) F.unfold(a,3) F.fold(F.unfold(a,3),(28,28),3)
    F.interpolate(a,scale_factor=2) F.interpolate(a,scale_factor=2,mode='bilinear')
    F.interpolate(a,scale_factor=2,mode='bicubic') F.interpolate(a,(14,14),mode='area')
    F.interpolate(a,(14,14),mode='bilinear',antialias=True) F.grid_sample(a,grid,align_corners=False)
    F.grid_sample(a,grid,mode='bicubic',align_corners=False) F.affine_grid(theta,(16,32,28,28),align_corners=False)
    F.max_pool2d(a,2) F.max_pool2d(a,3,1,1) F.avg_pool2d(a,3,1,1) F.max_pool1d(z,3) F.avg_pool1d(z,3)
    F.max_pool3d(vol,2) F.avg_pool3d(vol,2) F.adaptive_max_pool2d(a,7) F.adaptive_avg_pool2d(a,(5,6))
    F.lp_pool2d(a,2,2) F.max_unpool2d(*F.max_pool2d(a,2,return_indices=True),2) F.batch_norm(a,rm,rv,training=True)
    F.batch_norm(a,rm,rv) F.instance_norm(a) F.group_norm(a,8) F.local_response_norm(a,5) F.normalize(x)
    F.layer_norm(x,(1024,)) F.cosine_similarity(x,y) F.pairwise_distance(x,y) F.glu(x) F.prelu(x,v) F.rrelu(x)
    F.threshold(x,.5,0.) F.softplus(x) F.softsign(x) F.hardshrink(x) F.softshrink(x) F.gumbel_softmax(x)
    F.softmin(x,1) F.log_softmax(x,0) F.dropout(x) F.alpha_dropout(x) F.dropout2d(a) F.feature_alpha_dropout(x)
    F.cross_entropy(x,j) F.cross_entropy(x,j,label_smoothing=.1) F.nll_loss(x,j) F.kl_div(x,u) F.mse_loss(x,y)
    F.l1_loss(x,y) F.huber_loss(x,y) F.binary_cross_entropy(u,u) F.poisson_nll_loss(x,y) F.gaussian_nll_loss(x,y,p)
    F.hinge_embedding_loss(x,y) F.multi_margin_loss(x,j) F.multilabel_soft_margin_loss(x,u) F.soft_margin_loss(x,y)
    F.triplet_margin_loss(x,y,p) F.cosine_embedding_loss(x,y,v) F.ctc_loss(lp,tg,il,tl)
    F.bilinear(f[:64,:64],f[:64,:64],bw) F.conv1d(z,cw) F.conv_transpose1d(z,cw) F.conv3d(vol,vw) F.linear(z,lw)
    F.channel_shuffle(a,4) F.scaled_dot_product_attention(g4,g4,g4) x.t().clone()
    a.to(memory_format=t.channels_last) al.contiguous() al+al al.sum(1) F.relu(al)
    F.interpolate(al,scale_factor=2,mode='bilinear') F.max_pool2d(al,2) F.batch_norm(al,rm,rv) F.group_norm(al,8)
    x+y.t() k*l.t() b8+b8.t() c[:,:512]+d[:,:512].mT x.addcmul(y.t(),p) x.where(m.t(),y.t()) x.t().double()
    x+v[:,None] b8*b8[0] m.logical_not() m+n c.sgn() c.reciprocal() c.lerp(d,c) c==d c.real.to(t.complex64) c.to(t.int8)
    t.zeros(4000,4000) t.zeros(512,512,dtype=t.complex128)
    c.mean(1) c.prod(1) c.sum(0) c.cumsum(1) c.norm() k.median(1) k.cummax(1) k.mode(1) k.cumprod(0) k.topk(5)
    k.view(-1).bincount() b8.view(-1).bincount() b8.unique() m.unique() t.unique_consecutive(b8,return_counts=True)
    b8.any(0) b8.amin(0) b8.cumsum(1) i16.amax(0) m.cummax(1) x.half().sum(1) x.half().softmax(0) x.half().nansum(1)
    x.cumsum(0) x.cumprod(0) x.median(1) x.nanmedian(1) x.kthvalue(9,1) x.log_softmax(1) x.sum((0,1)) z.sum((0,2))
    z.log_softmax(1) z.cummin(1) z.view(-1,8).sum(0) z.view(-1,8).sum(1) z.view(8,-1).amin(0) z.view(-1,8).cummax(1)
    t.trapezoid(x,dim=0) t.gradient(x) F.rms_norm(z.view(-1,8),(8,))
    p.lgamma() p.digamma() t.special.i1e(x) t.special.bessel_j1(x) t.special.bessel_y0(p) t.special.bessel_y1(p)
    t.special.modified_bessel_i1(x) t.special.modified_bessel_k0(p) t.special.scaled_modified_bessel_k1(p)
    t.special.airy_ai(x) t.special.spherical_bessel_j0(x) t.special.gammainc(p,u) t.special.gammaincc(p,u)
    t.special.chebyshev_polynomial_t(x,5) t.special.hermite_polynomial_h(x,5) t.special.laguerre_polynomial_l(x,5)
    t.special.legendre_polynomial_p(x,5) F.gelu(x) F.logsigmoid(x) F.binary_cross_entropy_with_logits(x,u)
    F.mse_loss(x,y,reduction='none') F.smooth_l1_loss(x,y) F.multilabel_margin_loss(x,k.clamp(-1)-1)
    x.clone().exponential_()
    F.nll_loss(z,j[:1].expand(32,256)%128) F.cross_entropy(z,j[:1].expand(32,256)%128) t.linalg.vander(v[:100])
    t.vander(v) v[:,None]*v[:64] t.kron(f[:48,:48],f[:32,:32]) v[:,None]@v[None] c.sigmoid() c.rsqrt() x.log1p()
    z.permute(2,1,0).contiguous() x[:,::2].t().contiguous() b8.t().contiguous() b8<<b8 b8>>b8 b8.char()>>b8.char()
    b8.flip(1) i16.flip(1) x.to(t.int8) x.to(t.int16) s.aminmax() i16.aminmax() b8.aminmax() 2**x
    x.unsqueeze(0).sum(0) x.unsqueeze(2).amax(2) x.median() f.median() k.view(-1).sort()
    t.unique_consecutive(b8) t.searchsorted(o,w)
    thin.gather(2,(thin>0).long()) thin.scatter_add(2,(thin>0).long(),thin) z.view(-1,2).sort(1) k.view(-1,4).sort(1)
    thin.topk(2) z.view(-1,2).kthvalue(2) b8.view(-1,2).amax(1) thin.view(-1,5,6).amax(1) b8.view(-1,16).sum(1)
    b8.view(-1,8).flip(1) x.unfold(1,2,1).sum(-1) z.view(-1,2).triu() z.view(-1,8,4).index_select(1,j[:3]%8)
    b8.view(-1,8,8).movedim(1,2).contiguous() z.view(-1,32).diff() s.view(-1,4)[:,0].fill_(1)
    F.adaptive_avg_pool1d(z,1) F.adaptive_max_pool2d(a,1) F.adaptive_max_pool2d(a,6) F.avg_pool2d(a,7)
    F.max_pool1d(z,3,1,1) F.max_pool1d(z4,2) F.adaptive_max_pool1d(z4,5) F.adaptive_max_pool3d(vol,4)
    F.interpolate(z,77,mode='linear') F.interpolate(z,77) F.interpolate(al,(17,45),mode='bilinear')
    F.grid_sample(a,grid,mode='nearest',align_corners=False) F.grid_sample(a[:,:3],grid,align_corners=False)
    F.embedding_bag(ij,f[:,:32].contiguous(),mode='sum') F.group_norm(x,32)
    F.avg_pool2d(a7,2) F.avg_pool2d(a7,3,1,1) F.avg_pool2d(a7,7) F.max_pool2d(a7,2) F.adaptive_max_pool2d(a7,3)
    F.adaptive_avg_pool2d(a7,5) F.adaptive_max_pool2d(a,3) F.lp_pool2d(a7,2,2) F.interpolate(a7,scale_factor=.5)
    F.interpolate(a7,scale_factor=2,mode='bilinear') F.interpolate(a,scale_factor=.5,mode='bilinear')
    F.interpolate(a7,scale_factor=.5,mode='bilinear') F.interpolate(a7,scale_factor=2,mode='bicubic')
    F.batch_norm(a7,None,None,training=True) F.group_norm(a7,32) F.group_norm(x,1) F.group_norm(x,128)
    F.group_norm(z4,8)
    F.max_pool2d(al.bfloat16(),2) F.avg_pool2d(al.bfloat16(),2) F.avg_pool2d(al.half(),7)
    F.embedding_bag(ij,f[:,:4].contiguous()) F.embedding_bag(ij,f[:,:4].bfloat16(),mode='sum')
    F.max_pool3d(vol.contiguous(memory_format=t.channels_last_3d),2) F.fractional_max_pool2d(a,2,output_ratio=.6)
    F.fractional_max_pool3d(vol,2,output_ratio=.6) F.multi_margin_loss(x,j) F.multi_margin_loss(x[:64,:10],j[:64]%10)
    F.embedding_bag(ij.view(-1),f[:,:4].contiguous(),t.arange(0,ij.numel(),5),mode='sum') F.group_norm(al,1)
    F.embedding_bag(ij.view(-1),f[:,:32].contiguous(),t.arange(0,ij.numel(),5),mode='sum') z.view(-1,16).log_softmax(1)
    z.view(-1,64).bfloat16().softmax(1) z.view(-1,64).half().log_softmax(1) t.fft.fftn(c[None]) t.fft.rfftn(x[None])
    F.interpolate(al,scale_factor=.5,mode='bilinear') F.interpolate(al.bfloat16(),scale_factor=.5,mode='bilinear')
    F.scaled_dot_product_attention(g4[:,:,:1],g4[:,:1],g4[:,:1],enable_gqa=True) F.nll_loss(x.bfloat16(),j)
    F.grid_sample(a[:,:1],grid,align_corners=False) x.bfloat16().t()@y.bfloat16()
    zero.pow(y) F.elu(zero) odd.pow(2.7) odd.log1p() odd.sin() vast.log1p() vast.fmod(.7) vast.remainder(.7) vast//.7
    thin.sum(1) thin.mean(1) thin.nansum(1) thin.amax(1) thin.norm(dim=1) x.unsqueeze(1).mean(1) x.unsqueeze(2).sort(2)
    z[...,1:].sum(-1) z[...,::2].sum(-1) z[...,::2].sum(1) thin[...,1:].sum(1) thin.sum((0,2)) thin.mT.sum(1)
    thin[:,::2].sum(1) b8[:,1:20].sum(1) b8.view(-1,8,4).sum((0,2)) b8[:,1:5].sum(0) x.unfold(0,3,1).sum(-1)
    thin.unfold(1,3,1).amax(-1) z[...,1:18].abs() z[...,1:34]*2 z[...,::2]+1 k[:,::2].clone() thin.softmax(1)
    thin.log_softmax(1) thin.cumsum(1) thin.view(-1,2,3).cumprod(1) k.view(-1,256).cumsum(1) k.view(-1,32).sort(1)
    m.view(-1,32).sort(1) t.equal(x,y)
    csr@v csr@x[:,:5] csr+csr csr+csr2 csr@csr2 coo*coo2 coo+coo2 t.sparse.mm(coo,coo2)
    t.sparse.sampled_addmm(csr,x[:,:64],x[:,:64].t()) coo.index_select(0,j) coo.index_select(1,j) csr.to_sparse()
    vast.sin() vast.tan() vast.sinc() t.special.bessel_j0(vast) t.special.bessel_y1(vast.abs())
    t.special.spherical_bessel_j0(vast) t.special.airy_ai(vast) t.special.airy_ai(x*100) t.special.gammainc(p,vast)
    t.special.gammaincc(vast.abs(),p) t.special.ndtri(zero) t.special.erfcx(vast) odd.erfinv() x.angle() c**-1 F.silu(c)
    x.half()@v.half() x[:1].half()@y.half().t() x[:16]@y.t() s[:4]@s thin[:,:3]@thin[:,:3] g[:,:8,:8]@g[:,:8,:8]
    k.view(-1,4,4)@k.view(-1,4,4) g[:,:16,:16]@g[:,:16,:16] x[:,:8].t()@y[:,:8] x[:,:10].t()@y[:,:64]
    c.sin() c.tanh() c.log() c.sqrt() c.rsqrt() c.sigmoid() c.log1p() c.sinc() c.log2() c.expm1() c.cosh()
    t.polar(p.double(),y.double()) t.special.gammainc(x,p) t.special.gammaincc(x.double(),p.double())
    t.special.gammainc(p.double(),u.double()) t.special.zeta(u,p) x.half().nextafter(y.half())
    t.bucketize(x.bfloat16(),o.bfloat16()) t.bucketize(odd,o) F.rrelu(x,training=True) t.special.i1e(vast)
    t.multinomial(p[0],500) t.randperm(100000,dtype=t.int32)
    t._int_mm(b8,b8.char()) t._int_mm(b8.char()[:17],b8.char().t()) t._int_mm(b8.char()[:,:64],b8.char()[:64,:65])
    x.unsqueeze(1).norm(dim=1) s.heaviside(k.int()) i16.heaviside(i16) b8.view(-1,256,2).flip(1)
    b8[:1000].view(-1,5).flip(0) thin[:,1:].fill_(1) z[...,1:18].zero_() x.addcmul(v[:,None],y)
    z[...,:65].lerp(z[...,1:66],z[...,:1]) z[...,1:34]+z[...,:33] z[...,:65]*z[...,:1]
    F.rms_norm(thin.view(-1,1),(1,)) F.rms_norm(thin,(3,)) F.unfold(z.view(32,64,256,2),3,padding=1)
    F.max_pool2d(al[:,:3].contiguous(memory_format=t.channels_last),3,2) F.linear(x[:,:1],y[:,:1],v)
    F.affine_grid(theta.bfloat16(),(16,32,28,28),align_corners=False) thin.view(-1,3)@f[:3,:2]
    t.special.gammainc(p*100,p*100+x) t.special.gammaincc(p*100,p*100+x) F.adaptive_avg_pool1d(z,4)
    F.interpolate(a7,scale_factor=2,mode='area') F.group_norm(al[:1],8)
    F.conv2d(al,v[:32].view(32,1,1,1),v[:32],groups=32) t.cholesky_inverse(r) t.cholesky_inverse(e) thin.sort(2)
    t.addcmul(z[...,:65],z[...,1:66],z[...,:1]) t.lerp(z[...,:17],z[...,1:18],z[...,2:19]) x.long() s.long()
    t.linspace(0,1,1000000) z[...,:33]*z[...,1:34] x.half().aminmax()
    t.segment_reduce(w,'sum',lengths=t.full((20000,),10)) t.multinomial(p,5,True) t.vdot(c.view(-1),d.view(-1))
    F.embedding_bag(ij,x[:,:128].contiguous(),mode='sum') F.interpolate(a[:1,:1,:5,:5],scale_factor=2,mode='bilinear')
    F.max_pool1d(z,2) w[:20000].median() t.addcdiv(z[...,:65],z[...,1:66],z[...,:1]) z[j[:64,None]%32,j[:64]%128]
    z.index_select(1,j[:100]%128)
"""

TRAINED = """
    x*y x/y x**2 x.exp() x.log() x.sqrt() x.tanh() x.sigmoid() x.sin() x.pow(y) x.abs() x.clamp(.5,2) x.maximum(y)
    x.where(m,y) x.masked_fill(m,0) x+v x*v x*v[:,None] x.mean(1) x.mean(0) x.std(1) x.var(0) x.max(1)[0] x.amax(1)
    x.logsumexp(1) x.softmax(0) x.log_softmax(1) x.cumsum(1) x.cumprod(1) x.prod(1) x.norm(dim=1) x.norm()
    x.sort(1)[0] x.topk(10)[0] x.median(1)[0] x.gather(1,ij) x.index_select(0,j) x[j] x[:,j] x[m]
    x.scatter_add(1,ij,y[:,:64]) x.index_add(0,j,y) x.scatter_reduce(1,ij,y[:,:64],'amax') x.take(ix) x.flip(1)
    x.roll(3,1) x.t().contiguous() x.repeat(2,2) x.repeat_interleave(2,1) x.tril() t.cat([x,y],1) t.stack([x,y],1)
    x.split(256,1)[1] x.chunk(4)[2] x.unfold(0,4,2) x@y t.bmm(g,g) g4@g4 t.einsum('bij,bjk->bik',g,g) x.mv(v)
    v.dot(v) t.outer(v,v) t.addmm(y,x,y) t.cdist(x,y) t.cdist(x,y,p=1.) t.cdist(x,y,p=float('inf')) t.pdist(f)
    t.cdist(x[:,:3],y[:,:3],p=1.) t.cdist(f,f,p=3.) t.pdist(f,1.) t.addr(x,v,v)
    t.linalg.inv(q) t.linalg.det(q) t.linalg.solve(q,q) t.linalg.cholesky(r) t.linalg.qr(f)[1] t.linalg.svd(f)[1]
    t.linalg.eigh(r)[0] t.linalg.matrix_exp(f) t.fft.rfft(x).abs() t.fft.fft2(x).abs() t.complex(x,y).abs()
    x.lgamma() x.erf() x.atan2(p) x.logaddexp(y) x.lerp(y,p) F.pad(a,(1,1,1,1)) F.pad(a,(2,2,2,2),'reflect')
    F.pixel_shuffle(a,2) F.unfold(a,3) F.interpolate(a,scale_factor=2)
    F.interpolate(a,scale_factor=2,mode='bilinear') F.interpolate(a,scale_factor=2,mode='bicubic')
    F.grid_sample(a,grid,align_corners=False) F.max_pool2d(a,2) F.avg_pool2d(a,3,1,1) F.max_pool1d(z,3)
    F.max_pool3d(vol,2) F.adaptive_avg_pool2d(a,(5,6)) F.adaptive_max_pool2d(a,7) F.lp_pool2d(a,2,2)
    F.batch_norm(a,rm,rv,training=True) F.instance_norm(a) F.group_norm(a,8) F.local_response_norm(a,5)
    F.normalize(x) F.layer_norm(x,(1024,)) F.rms_norm(x,(1024,)) F.cosine_similarity(x,y) F.pairwise_distance(x,y)
    F.prelu(x,v) F.softsign(x) F.gumbel_softmax(x) F.hardshrink(x) F.cross_entropy(x,j)
    F.cross_entropy(x,j,label_smoothing=.1) F.cross_entropy(x,p.softmax(1)) F.nll_loss(x,j) F.kl_div(x,u.detach())
    F.l1_loss(x,y) F.huber_loss(x,y) F.binary_cross_entropy(u,u.detach()) F.gaussian_nll_loss(x,y,p)
    F.multi_margin_loss(x,j) F.soft_margin_loss(x,y.sign().detach()) F.triplet_margin_loss(x,y,p)
    F.ctc_loss(lp,tg,il,tl) F.bilinear(f[:64,:64],f[:64,:64],bw) F.conv1d(z,cw) F.conv_transpose1d(z,cw)
    F.conv3d(vol,vw) F.linear(z,lw) F.embedding(ij,f) F.embedding_bag(ij,f) F.scaled_dot_product_attention(g4,g4,g4)
    F.dropout(x) F.dropout2d(a) F.batch_norm(al,rm,rv,training=True) F.max_pool2d(al,2) F.avg_pool2d(al,2)
    F.interpolate(al,scale_factor=2,mode='bilinear') F.relu(al)
    x.prod() x.prod(0) x.nansum(1) x.nanmedian(1)[0] x.cummax(1)[0] x.bfloat16().softmax(1) x.half().log_softmax(0)
    F.avg_pool2d(a7,3,1,1) F.max_pool2d(a7,2) F.interpolate(a7,scale_factor=2,mode='bilinear') F.group_norm(x,1)
    F.group_norm(a.bfloat16(),8) F.batch_norm(a.bfloat16(),rm,rv,training=True) F.layer_norm(z.view(-1,8),(8,))
    F.softshrink(x) F.threshold(x,.5,0.) F.softplus(x) F.gelu(x) F.mse_loss(x,y) F.smooth_l1_loss(x,y)
    F.binary_cross_entropy_with_logits(x,u.detach()) p.lgamma() u.logit() p.digamma() t.special.i0e(x)
    t.special.entr(p) t.special.log_ndtr(x) x.xlogy(p)
    F.multilabel_margin_loss(x,k.clamp(-1)-1) F.cross_entropy(z,j[:1].expand(32,256)%128) t.linalg.lstsq(f,f)[0]
    t.addmv(v,x,v) x.log1p() x.logit(.1)
    x.unsqueeze(0)+y z.transpose(1,2).contiguous()
    F.embedding(ij,f,padding_idx=0) z.view(-1,64).bfloat16().softmax(1) F.fractional_max_pool2d(a,2,output_ratio=.6)
    F.max_pool3d(vol.contiguous(memory_format=t.channels_last_3d),2) F.group_norm(al,1)
    F.grid_sample(a[:,:2],grid,align_corners=False)
"""


FLOATING = "x y p u v w q f r g e g4 z z4 a a7 al vol vw lp bw cw lw zero odd vast thin"


def operators(torch: Any) -> Iterator[Case]:
    """Forward alone, of three types, then forward and backward."""
    for dtype in ("float32", "float64", "bfloat16"):
        for expression in FORWARD.split():
            if dtype == "float32" or _find_floating(expression):
                yield expression + f", {dtype}" * (dtype != "float32"), partial(_forward, torch, expression, dtype)
    for expression in TRAINED.split():
        yield f"{expression}, backward", partial(_trained, torch, expression)


def _find_floating(expression: str) -> list[str]:
    """Names of the floating tensors in it."""
    names = compile(expression, expression, "eval").co_names
    return [name for name in FLOATING.split() if name in names]


def _sparse_tensors(torch: Any) -> dict[str, Any]:
    """Matrices with a fiftieth of their elements."""
    names: dict[str, Any] = {}
    for number in ("", "2"):
        whole = torch.rand(1024, 1024)
        whole = torch.where(whole < 0.02, whole, 0.0)
        names |= {f"csr{number}": whole.to_sparse_csr(), f"coo{number}": whole.to_sparse().coalesce()}
    return names


@cache  # Once for each process: it takes longer than most cases do.
def _tensors(torch: Any) -> dict[str, Any]:
    torch.manual_seed(0)
    x, y = torch.randn(1024, 1024), torch.randn(1024, 1024)
    f, g = torch.randn(128, 128), torch.randn(64, 32, 32)
    k = torch.randint(100, (1024, 1024))
    a = torch.randn(16, 32, 28, 28)
    return {
        "t": torch,
        "F": import_module("torch.nn.functional"),
        "x": x,
        "y": y,
        "p": torch.rand(1024, 1024) + 0.1,
        "u": torch.rand(1024, 1024) * 0.9 + 0.05,
        "v": torch.randn(1024),
        "w": torch.randn(200_000),
        "h": torch.hann_window(512),
        "o": torch.linspace(-3, 3, 1000),
        "k": k,
        "l": torch.randint(1, 9, (1024, 1024)),
        "s": k.int(),
        "b8": k.byte(),
        "i16": k.short(),
        "m": x > 0,
        "n": y > 0,
        "c": torch.complex(x, y)[:512, :513].contiguous(),
        "d": torch.complex(y, x)[:512, :513].contiguous(),
        "q": torch.randn(256, 256) + 16 * torch.eye(256),
        "f": f,
        "r": torch.eye(1024)[:256, :256] * 8 + torch.ones(256, 256) * 0.1,
        "g": g + 8 * torch.eye(32),
        "e": g @ g.mT + torch.eye(32),
        "g4": torch.randn(4, 8, 64, 64),
        "z": torch.randn(32, 128, 256),
        "z4": torch.randn(64, 32, 16),
        "j": torch.randint(1024, (1024,)),
        "ij": torch.randint(128, (1024, 1024))[:, :64].contiguous(),
        "ix": torch.randint(1024 * 1024, (1024, 1024)),
        "a": a,
        "a7": torch.randn(16, 256, 7, 7),
        "al": a.to(memory_format=torch.channels_last),
        "vol": torch.randn(2, 8, 16, 32, 32),
        "vw": torch.randn(8, 8, 3, 3, 3),
        "grid": torch.rand(16, 28, 28, 2) * 2 - 1,
        "theta": torch.randn(16, 2, 3),
        "rm": torch.zeros(32),
        "rv": torch.ones(32),
        "lp": torch.randn(50, 16, 20).log_softmax(2),
        "tg": torch.randint(1, 20, (16, 20)),
        "il": torch.full((16,), 50),
        "tl": torch.full((16,), 20),
        "bw": torch.randn(32, 64, 64),
        "cw": torch.randn(128, 128, 3),
        "lw": torch.randn(256, 256),
        # What functions have rules for, and what fills no vector.
        "zero": torch.zeros(1024, 1024),
        "odd": torch.where(x > 0, x, float("nan")),
        "vast": x * 1e20,
        "thin": torch.randn(3000, 100, 3),
        **_sparse_tensors(torch),
    }


def _forward(torch: Any, expression: str, dtype: str) -> Work:
    names = dict(_tensors(torch))
    if dtype != "float32":
        names |= {name: names[name].to(getattr(torch, dtype)) for name in _find_floating(expression)}
    work: Work = eval(f"lambda: {expression}", names)
    return work


def _trained(torch: Any, expression: str) -> Work:
    names, code = dict(_tensors(torch)), compile(expression, expression, "eval")
    leaves = {name: names[name].detach().requires_grad_() for name in _find_floating(expression)}
    names |= leaves
    gradient = torch.ones_like(eval(code, names))

    def work() -> None:
        for leaf in leaves.values():
            leaf.grad = None
        eval(code, names).backward(gradient)

    return work
