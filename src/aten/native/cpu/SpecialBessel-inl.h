// Bessel functions of vectors of float64, and Airy's: see special_bessel.h, whose functions are asked for what is rare
// here. Included once per instruction set, as VectorMath-inl.h is, and fitted as its polynomials are.

#if defined(TORCH_SPECIAL_BESSEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCH_SPECIAL_BESSEL_INL_H_
#undef TORCH_SPECIAL_BESSEL_INL_H_
#else
#define TORCH_SPECIAL_BESSEL_INL_H_
#endif

#include <aten/native/cpu/SpecialMath-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

constexpr double kFarFromZero = 8;  // where the functions have other polynomials

// J0(x), or J1(x) / x, of z = x^2 up to 64: its first two zeros times a polynomial of 1 - z / 64.
template <int kOrder, typename D, typename V>
HWY_INLINE HWY_ATTR V bessel_j_near(D d, V z) {
  constexpr double order_0[] = {
      6.56489644256796920e-12, 5.63061909161802333e-11, 8.74156689440214669e-10, 9.79045824111566661e-09,
      9.59764840352562185e-08, 7.89502410338969009e-07, 5.37298740681880505e-06, 2.96048707814782889e-05,
      1.28551440290331751e-04, 4.24609269801557397e-04, 1.01628230415704447e-03, 1.64154984815387543e-03,
      1.59452696018024496e-03, 7.45360703295443292e-04, 8.79387347084299698e-05};
  constexpr double order_1[] = {
      3.20341842543684627e-12, 2.58085510990703845e-11, 3.71590755990412101e-10, 3.85139677311093989e-09,
      3.46690498349973800e-08, 2.59744544090142346e-07, 1.59364679674890461e-06, 7.81581186645383966e-06,
      2.97124926854277637e-05, 8.40255059557620376e-05, 1.66778465217012179e-04, 2.12556837409614121e-04,
      1.48908653991999883e-04, 4.02327571243828253e-05};
  const V s = hn::NegMulAdd(z, hn::Set(d, 1.0 / 64), hn::Set(d, 1.0));
  const V first = hn::Sub(z, hn::Set(d, kOrder == 0 ? 5.783185962946784 : 14.681970642123893));
  const V second = hn::Sub(z, hn::Set(d, kOrder == 0 ? 30.471262343662087 : 49.2184563216946));
  const V curve = kOrder == 0 ? polynomial(d, s, order_0) : polynomial(d, s, order_1);
  return hn::Mul(hn::Mul(first, second), curve);
}
// J and Y from 8 on: J is p cos(a) - q sin(a) and Y is p sin(a) + q cos(a), both times sqrt(2 / (pi x)), with
// a = x - pi / 4, or x - 3 pi / 4; p and q / (8 / x) are polynomials of (8 / x)^2.
template <int kOrder, bool kSecondKind, typename D, typename V>
HWY_INLINE HWY_ATTR V bessel_far(D d, V x) {
  constexpr double p_0[] = {
      -2.09956660281979152e-10, 1.50855496013515335e-09, -5.17593395487711640e-09, 1.18474336764942114e-08,
      -2.22929649611980116e-08, 4.25962156903654873e-08, -1.02073896707907294e-07, 3.61979684701911674e-07,
      -2.18391370916552001e-06, 2.73808833962133331e-05, -1.09863281249404968e-03, 1.00000000000000000e+00};
  constexpr double q_0[] = {
      2.02629530943294155e-10, -1.43427443707384773e-09, 4.80364918885048237e-09, -1.05534335176646979e-08,
      1.84995056569585004e-08, -3.14776825325329725e-08, 6.37727561976907530e-08, -1.81584454569375520e-07,
      8.23838503893282501e-07, -6.93078587507062423e-06, 1.43051147454759282e-04, -1.56249999999999792e-02};
  constexpr double p_1[] = {
      2.23717655615067387e-10, -1.60904495202628663e-09, 5.52999411116327087e-09, -1.26956972326981281e-08,
      2.40203571870567219e-08, -4.63453752856622051e-08, 1.12836196411560129e-07, -4.10248141335652096e-07,
      2.58098964471185121e-06, -3.52039930049331178e-05, 1.83105468749368756e-03, 1.00000000000000000e+00};
  constexpr double q_1[] = {
      -2.15359632846581786e-10, 1.52569944619323318e-09, -5.11709500567121325e-09, 1.12699295180367775e-08,
      -1.98444126072646026e-08, 3.40364081156447984e-08, -6.98619549947257668e-08, 2.02951203637780496e-07,
      -9.50583479845029767e-07, 8.47096056476612052e-06, -2.00271606438772782e-04, 4.68749999999999792e-02};
  const V u = hn::Div(hn::Set(d, kFarFromZero), x);
  const V s = hn::Mul(u, u);
  const V p = kOrder == 0 ? polynomial(d, s, p_0) : polynomial(d, s, p_1);
  const V q = hn::Mul(u, kOrder == 0 ? polynomial(d, s, q_0) : polynomial(d, s, q_1));
  const auto [sine, cosine, lost] = sine_and_cosine(d, x);
  const V sum = hn::Add(sine, cosine);  // times sqrt(1 / 2): the sine and the cosine of a, but for their signs
  const V difference = hn::Sub(sine, cosine);
  V value;
  if constexpr (kOrder == 0) {
    value = kSecondKind ? hn::MulAdd(p, difference, hn::Mul(q, sum)) : hn::MulSub(p, sum, hn::Mul(q, difference));
  } else {
    value = kSecondKind ? hn::MulSub(q, difference, hn::Mul(p, sum)) : hn::MulAdd(p, difference, hn::Mul(q, sum));
  }
  const V result = hn::Div(value, hn::Mul(hn::Sqrt(x), hn::Set(d, special::kSqrtPi)));
  return hn::IfThenZeroElse(hn::Eq(x, hn::Set(d, kEndless)), result);
}

template <int kOrder>
struct BesselJOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const V magnitude = hn::Abs(x);
    const auto is_near = hn::Le(magnitude, hn::Set(d, kFarFromZero));
    V far = hn::Zero(d);
    if (HWY_UNLIKELY(!hn::AllTrue(d, is_near))) {
      far = bessel_far<kOrder, false>(d, magnitude);
      if constexpr (kOrder == 1) far = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Neg(far), far);
      if (hn::AllFalse(d, is_near)) return far;
    }
    V near = bessel_j_near<kOrder>(d, hn::Mul(x, x));
    if constexpr (kOrder == 1) near = hn::Mul(near, x);
    return hn::IfThenElse(is_near, near, far);
  }
};
// Up to 8 a polynomial of x^2 / 32 - 1 beside (2 / pi) log(x) J0(x); or x times one beside
// (2 / pi) (log(x) J1(x) - 1 / x).
template <int kOrder>
struct BesselYOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double order_0[] = {
        -8.84011209607310098e-13, 2.69269380545240568e-11, -7.13046146536789004e-10, 1.63908750140774039e-08,
        -3.21850784459359227e-07, 5.32131881039971446e-06, -7.27954188245411531e-05, 8.06158605961635973e-04,
        -7.02574105727097036e-03, 4.63670476813751245e-02, -2.18957470961716277e-01, 6.72177078343167866e-01,
        -1.07754773382159952e+00, 1.44126323693024749e-01, 1.64709647887454658e+00, -8.28435890360458727e-01,
        -3.82250654459425021e-01};
    constexpr double order_1[] = {
        8.76000114397785341e-13, -2.49953154617124893e-11, 6.16968802906696460e-10, -1.31531473670949515e-08,
        2.38049304205141779e-07, -3.60100002259045798e-06, 4.46743301264636476e-05, -4.43817343442014678e-04,
        3.42249073991884954e-03, -1.96287568331171107e-02, 7.85478692224253205e-02, -1.96398398599302026e-01,
        2.35072092066697547e-01, 2.33675717209934804e-02, -2.43377430791931137e-01, 7.07598588211800494e-02};
    const V zero = hn::Zero(d);
    const auto is_right = hn::Gt(x, zero);
    const V edge = hn::IfThenElse(hn::Eq(x, zero), hn::Set(d, -kEndless), hn::Set(d, special::kNaN));
    if (HWY_UNLIKELY(hn::AllFalse(d, is_right))) return edge;
    const auto is_near = hn::Le(x, hn::Set(d, kFarFromZero));
    V far = edge;
    if (HWY_UNLIKELY(!hn::AllTrue(d, is_near))) {
      far = hn::IfThenElse(is_right, bessel_far<kOrder, true>(d, x), edge);
      if (hn::AllFalse(d, hn::And(is_right, is_near))) return far;
    }
    const V z = hn::Mul(x, x);
    const V t = hn::MulSub(z, hn::Set(d, 1.0 / 32), hn::Set(d, 1.0));
    const V j = hn::Mul(log_of_positive(d, x), bessel_j_near<kOrder>(d, z));
    const V unit = hn::Set(d, 2 / special::kPi);
    V near;
    if constexpr (kOrder == 0) {
      near = hn::MulAdd(unit, j, polynomial(d, t, order_0));
    } else {
      near = hn::MulSub(x, hn::MulAdd(unit, j, polynomial(d, t, order_1)), hn::Div(unit, x));
    }
    return hn::IfThenElse(hn::And(is_right, is_near), near, far);
  }
};

// I0(x), or I1(x) / x, of z = x^2 up to 64.
template <int kOrder, typename D, typename V>
HWY_INLINE HWY_ATTR V bessel_i_near(D d, Pair<V> z) {
  constexpr double order_0[] = {
      1.10759232640913015e-06, 7.78453234806536785e-06, 1.19973381898409988e-04, 1.22109434587296291e-03,
      1.10468979779657361e-02, 8.34931399839992511e-02, 5.21862138230153594e-01, 2.64191387089375107e+00,
      1.05676596423917513e+01, 3.23634567314812998e+01, 7.28177777861847773e+01, 1.13777777776987264e+02,
      1.13777777777822692e+02, 6.39999999999986571e+01, 1.60000000000000142e+01, 1.00000000000000000e+00};
  constexpr double order_1[] = {
      3.36348684038572234e-08, 2.67042908161222876e-07, 4.25837406072536947e-06, 4.70201454375091907e-05,
      4.60211311543590055e-04, 3.79521648908255713e-03, 2.60930555236068076e-02, 1.46773018827261403e-01,
      6.60478718111503049e-01, 2.31167548332501749e+00, 6.06814814838949523e+00, 1.13777777777550870e+01,
      1.42222222222235111e+01, 1.06666666666666288e+01, 4.00000000000000089e+00, 5.00000000000000000e-01};
  const V unit = hn::Set(d, 1.0 / 64);
  const Pair<V> s{hn::Mul(z.high, unit), hn::Mul(z.low, unit)};
  if (hn::AllTrue(d, hn::Eq(s.low, hn::Zero(d)))) {  // float32's squares have no more digits
    return kOrder == 0 ? polynomial(d, s.high, order_0) : polynomial(d, s.high, order_1);
  }
  return kOrder == 0 ? polynomial(d, s, order_0) : polynomial(d, s, order_1);
}
// Times exp(-|x|) if kScaled: from 8 on a polynomial of 16 / x - 1 over the root.
template <int kOrder, bool kScaled>
struct BesselIOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double far_0[] = {
        9.36508689281819031e-11, 3.62935522971873310e-11, -6.63328711254708360e-10, -2.80338199788699950e-10,
        2.19689213788290057e-09, 1.10505587944243473e-09, -4.57555342453497337e-09, -3.13462764292407870e-09,
        6.56013874691705739e-09, 7.33596871081615356e-09, -5.03810648790328447e-09, -1.33260944057663869e-08,
        -6.84933818828676942e-09, 7.53435584380334182e-09, 2.15662514531043535e-08, 3.93288937511463394e-08,
        8.87203438331414380e-08, 2.97359604656271178e-07, 1.48384766512502661e-06, 1.11430338007089781e-05,
        1.36216074389847348e-04, 3.36055198366775037e-03, 4.02176509445008101e-01};
    constexpr double far_1[] = {
        -9.75239720413819542e-11, -3.36543185318017631e-11, 6.91708929419380704e-10, 2.63407710951364832e-10,
        -2.29700416188520102e-09, -1.05945441604431658e-09, 4.81059740508994414e-09, 3.08688673672272513e-09,
        -6.98383962489586585e-09, -7.44444147719726969e-09, 5.59337010179060999e-09, 1.39585510013859546e-08,
        6.84013899770695857e-09, -8.40918204044291768e-09, -2.33925037480185811e-08, -4.31319648997773320e-08,
        -1.00010956596365399e-07, -3.48385343803763334e-07, -1.83491023589553846e-06, -1.50385472095018583e-05,
        -2.19235763831724295e-04, -9.74957719323563468e-03, 3.89398459025872334e-01};
    const V magnitude = hn::Abs(x);
    const auto is_near = hn::Le(magnitude, hn::Set(d, kFarFromZero));
    V result = magnitude;
    if (HWY_LIKELY(!hn::AllFalse(d, is_near))) {
      result = bessel_i_near<kOrder>(d, multiply(x, x));
      if constexpr (kOrder == 1) result = hn::Mul(result, magnitude);
      if constexpr (kScaled) result = hn::Mul(result, exp_vector(d, hn::Neg(magnitude)));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(d, is_near))) {
      const V t = hn::Sub(hn::Div(hn::Set(d, 2 * kFarFromZero), magnitude), hn::Set(d, 1.0));
      const V curve = kOrder == 0 ? polynomial_in_halves(d, t, far_0) : polynomial_in_halves(d, t, far_1);
      V far = hn::Div(curve, hn::Sqrt(magnitude));
      if constexpr (!kScaled) {  // the function is finite a little longer than exp(x)
        const auto power = exp_parts(d, hn::Min(magnitude, hn::Set(d, 720.0)));
        far = power.scale(d, hn::Mul(far, power.one_and_rest(d)));
      }
      result = hn::IfThenElse(is_near, result, far);
    }
    return kOrder == 1 ? hn::CopySign(result, x) : result;
  }
};
// Times exp(x) if kScaled: up to 2 a polynomial of x^2 / 2 - 1 less log(x / 2) I0(x), or one over x and
// log(x / 2) I1(x); from there on a polynomial of 4 / x - 1 over the root.
template <int kOrder, bool kScaled>
struct BesselKOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double order_0[] = {
        3.51863151585472214e-14, 5.45256466277258571e-12, 6.62301327279445263e-10, 6.09336189417211447e-08,
        4.05450661994989099e-06, 1.82805558279155404e-04, 5.05339264319609217e-03, 7.17770103424050926e-02,
        3.40497321013380594e-01, -3.03620772915755455e-01};
    constexpr double order_1[] = {
        -6.21427161732957686e-13, -8.53363416857514174e-11, -9.03212750174067788e-09, -7.08113369151740815e-07,
        -3.89186906437163322e-05, -1.38316884661811605e-03, -2.78542352197718411e-02, -2.43838528867743293e-01,
        -3.32240955240313107e-01, 8.85088287729589362e-01};
    constexpr double far_0[] = {
        1.09269835372687352e-10, -1.75975288091957064e-10, -3.11993612968210478e-10, 4.39272600021076330e-10,
        8.13391320546411429e-10, -1.23669232770962874e-09, 4.75754470577637419e-11, -6.64387863184323480e-10,
        3.80839985991904300e-09, -8.02520560490447636e-09, 1.70475358842496978e-08, -4.10567387249153644e-08,
        1.02954317593911996e-07, -2.68975986553958397e-07, 7.42780123219009587e-07, -2.19116738374178639e-06,
        7.00224564575565073e-06, -2.47352054284897194e-05, 9.95605474202941961e-05, -4.79769056732884402e-04,
        3.03289181027532060e-03, -3.10714618248898976e-02, 1.21859533851339052e+00};
    constexpr double far_1[] = {
        -1.19316683931121582e-10, 1.92738080875405166e-10, 3.38678041678080028e-10, -4.77441121785095035e-10,
        -8.90859671092390579e-10, 1.36158594044606475e-09, -8.33622719599145592e-11, 7.96624279850409375e-10,
        -4.33193998565862899e-09, 9.21389402028953269e-09, -1.98175771415911160e-08, 4.81543467908547775e-08,
        -1.22031863519384030e-07, 3.23056719885393420e-07, -9.06708763337139293e-07, 2.73003010435272151e-06,
        -8.96120738775002530e-06, 3.28438665023559552e-05, -1.39590219562722235e-04, 7.35724154871838544e-04,
        -5.56672988007458815e-03, 1.03349737753865648e-01, 1.36315189037134199e+00};
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0);
    const V two = hn::Set(d, 2.0);
    const auto is_right = hn::Gt(x, zero);
    const V edge = hn::IfThenElse(hn::Eq(x, zero), hn::Set(d, kEndless), hn::Set(d, special::kNaN));
    if (HWY_UNLIKELY(hn::AllFalse(d, is_right))) return edge;
    const Pair<V> z = multiply(x, x);
    const V t = hn::MulSub(z.high, hn::Set(d, 0.5), one);
    const V i = hn::Mul(log_of_positive(d, hn::Mul(x, hn::Set(d, 0.5))), bessel_i_near<kOrder>(d, z));
    V result;
    if constexpr (kOrder == 0) result = hn::Sub(polynomial(d, t, order_0), i);
    else result = hn::MulAdd(i, x, hn::Div(polynomial(d, t, order_1), x));
    if constexpr (kScaled) result = hn::Mul(result, exp_vector(d, x));
    const auto is_near = hn::And(is_right, hn::Le(x, two));
    if (HWY_LIKELY(hn::AllTrue(d, is_near))) return result;
    const V u = hn::Sub(hn::Div(hn::Set(d, 4.0), x), one);
    V far = hn::Div(kOrder == 0 ? polynomial(d, u, far_0) : polynomial(d, u, far_1), hn::Sqrt(x));
    if constexpr (!kScaled) far = hn::Mul(far, exp_vector(d, hn::Neg(x)));
    result = hn::IfThenElse(is_near, result, far);
    return hn::IfThenElse(is_right, result, edge);
  }
};

struct SphericalBesselJ0OfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    const auto is_near = hn::Lt(hn::Abs(x), hn::Set(d, 1e-4));
    const V near = hn::NegMulAdd(hn::Mul(x, x), hn::Set(d, 1.0 / 6), hn::Set(d, 1.0));
    const auto turned = sine_and_cosine(d, x);
    const Pair<V> far = divide(Pair<V>{turned.sine, turned.sine_low}, Pair<V>{x, hn::Zero(d)});
    const V result = hn::IfThenElse(is_near, near, hn::Add(far.high, far.low));
    return hn::IfThenZeroElse(hn::Eq(hn::Abs(x), hn::Set(d, kEndless)), result);
  }
};

// By Taylor's series from -9.5 to 2.5; above, exp(-zeta) / x^(1/4) times a polynomial of 1 / zeta, and below a sine and
// a cosine times the asymptotic series, in powers of 1 / zeta, with the signs of p and q.
struct AiryAiOfVectors {
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR V operator()(D d, V x) const {
    constexpr double far[] = {
        -1.67396042253814712e-06, 1.75115601541785336e-05, -8.56418224203599654e-05, 2.60697814349119498e-04,
        -5.55416175950760997e-04, 8.84493449362911441e-04, -1.10140546529820292e-03, 1.11357341001865713e-03,
        -9.50129404751073122e-04, 7.16804825397576598e-04, -5.07506910214259232e-04, 3.61914048549484926e-04,
        -2.78804070283038296e-04, 2.45421533842592372e-04, -2.57693550144580960e-04, 3.37219098301534486e-04,
        -5.85656608610839180e-04, 1.50842353882830451e-03, -7.43385048396615587e-03, 2.82094791773878140e-01};
    constexpr double kBorder = 2.5;
    constexpr double kZetaThere = 2.635231383473649;  // 2/3 of its power of 3/2
    const auto is_far = hn::Gt(x, hn::Set(d, kBorder));
    const auto is_left = hn::Lt(x, hn::Set(d, -9.5));
    const auto is_outside = hn::Or(is_far, is_left);
    const V most = hn::Set(d, 120.0);  // 0 from here on
    V result = hn::Zero(d);
    if (!hn::AllTrue(d, is_outside)) result = near(d, x);
    if (!hn::AllFalse(d, hn::And(is_far, hn::Lt(x, most)))) {
      const V bounded = hn::Max(hn::Min(x, most), hn::Set(d, kBorder));
      const V root = hn::Sqrt(bounded);
      const V zeta = hn::Mul(hn::Mul(bounded, root), hn::Set(d, 2.0 / 3));
      const V curve = polynomial(d, hn::Div(hn::Set(d, kZetaThere), zeta), far);
      const V power = exp_vector(d, hn::Neg(zeta));
      result = hn::IfThenElse(is_far, hn::Div(hn::Mul(power, curve), hn::Sqrt(root)), result);
    }
    result = hn::IfThenZeroElse(hn::Or(hn::Ge(x, most), is_left), result);
    if (!hn::AllFalse(d, hn::And(is_left, hn::Gt(x, hn::Set(d, -kEndless))))) {
      result = hn::IfThenElse(is_left, left(d, hn::Max(hn::Neg(x), hn::Set(d, 9.5))), result);
    }
    return result;
  }

 private:
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V near(D d, V x) {
    const hn::RebindToSigned<D> places;
    const V node = hn::Max(hn::Min(hn::Round(x), hn::Set(d, 2.0)), hn::Set(d, -9.0));
    const V h = hn::Sub(x, node);
    const auto place = hn::ShiftLeft<1>(hn::ConvertTo(places, hn::Add(node, hn::Set(d, 9.0))));
    V before = hn::Zero(d);
    V current = hn::GatherIndex(d, special::airy_values(), place);
    V after = hn::GatherIndex(d, special::airy_values() + 1, place);
    V power = hn::Set(d, 1.0);
    V result = hn::Zero(d);
    for (int n = 0; n < special::kAirySteps; ++n) {
      result = hn::MulAdd(current, power, result);
      const V next = hn::Mul(hn::MulAdd(node, current, before), hn::Set(d, 1.0 / ((n + 1) * (n + 2))));
      before = current;
      current = after;
      after = next;
      power = hn::Mul(power, h);
    }
    return result;
  }
  template <typename D, typename V>
  HWY_INLINE HWY_ATTR static V left(D d, V size) {
    constexpr int kTerms = 12;
    const V root = hn::Sqrt(size);
    const V zeta = hn::Mul(hn::Mul(size, root), hn::Set(d, 2.0 / 3));
    const V inverse = hn::Div(hn::Set(d, 1.0), zeta);
    const V square = hn::Neg(hn::Mul(inverse, inverse));
    // By Horner's rule: each term is the one before times (6 k - 5) (6 k - 1) / (72 k zeta).
    V p = hn::Set(d, 1.0);
    V q = p;
    const auto step = [](int k) { return (6.0 * k - 5) * (6.0 * k - 1) / (72.0 * k); };
    for (int k = 2 * kTerms; k > 1; k -= 2) {
      p = hn::MulAdd(hn::Mul(p, square), hn::Set(d, step(k) * step(k - 1)), hn::Set(d, 1.0));
      q = hn::MulAdd(hn::Mul(q, square), hn::Set(d, step(k + 1) * step(k)), hn::Set(d, 1.0));
    }
    q = hn::Mul(hn::Mul(q, inverse), hn::Set(d, step(1)));
    // The sine and the cosine of zeta + pi / 4, times sqrt(2).
    const auto [sine, cosine, lost] = sine_and_cosine(d, zeta);
    const V value = hn::NegMulAdd(hn::Sub(cosine, sine), q, hn::Mul(hn::Add(sine, cosine), p));
    const V scale = hn::Set(d, 1 / (special::kSqrtPi * special::kSqrt2));
    const V result = hn::Div(hn::Mul(value, scale), hn::Sqrt(root));
    return hn::IfThenZeroElse(hn::Eq(size, hn::Set(d, kEndless)), result);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
