// Made by coefficients.py. Polynomials from the constant on; their errors in units of the last place of what they serve.
#pragma once

namespace weft::kernels {

template <class T>
struct Coefficients;

template <>
struct Coefficients<float> {
  // exp(r) = 1 + r + r^2 Exp(r), expm1(r) = r + r^2 Expm1(r); the parts of log(2) by which r is found
  static constexpr float kExp[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f4p-5f, 0x1.123a1ep-7f, 0x1.6a23bep-10f};  // to 0.051 units
  static constexpr float kExpm1[] = {0x1p-1f, 0x1.555556p-3f, 0x1.55549ep-5f, 0x1.11101ep-7f, 0x1.6d8394p-10f,
    0x1.a2a352p-13f};  // to 0.0045 units
  static constexpr float kLog2[] = {0x1.62ep-1f, 0x1.0bfbe8p-15f};
  // log(1 + f) = 2 s + s z Log(z), s = f / (2 + f), z = s^2
  static constexpr float kLog[] = {0x1.55557ap-1f, 0x1.995edp-2f, 0x1.31e0dep-2f};  // to 0.013 units
  // sin(r) = r + r z Sin(z), cos(r) = 1 - z / 2 + z^2 Cos(z), z = r^2, |r| <= pi/4; the parts of pi/2 by which r is found
  static constexpr float kSin[] = {-0x1.555546p-3f, 0x1.110736p-7f, -0x1.99422ap-13f};  // to 0.064 units
  static constexpr float kCos[] = {0x1.55554ap-5f, -0x1.6c0c2ep-10f, 0x1.99ea0ep-16f};  // to 0.0019 units
  static constexpr float kHalfPi[] = {0x1.922p0f, -0x1.2afp-18f, 0x1.0b4p-34f, 0x1.84698ap-48f};
  // atan(r) = r + r z Atan(z), |r| <= tan(pi/8); asin(s) = s + s z Asin(z), s <= 1/2
  static constexpr float kAtan[] = {-0x1.55554ap-2f, 0x1.99918ep-3f, -0x1.23b49p-3f, 0x1.b1e338p-4f, -0x1.f1bdbep-5f};  // to 0.011 units
  static constexpr float kAsin[] = {0x1.5555cap-3f, 0x1.3301a8p-4f, 0x1.7484aep-5f, 0x1.8be412p-6f, 0x1.59ab16p-5f};  // to 0.082 units
  // erf(x) = x + x Erf(x^2), |x| <= 1.25
  static constexpr float kErf[] = {0x1.06eba8p-3f, -0x1.81274p-2f, 0x1.ce2de6p-4f, -0x1.b813eep-6f, 0x1.555feap-8f,
    -0x1.b534c6p-11f, 0x1.b3d774p-14f, -0x1.fbdfb2p-18f};  // to 0.017 units
  // erfc(x) = RootErfc(x)^8, as right as erf(x) needs it, 1.25 <= x <= 4.1
  static constexpr float kRootErfc[] = {0x1.006192p0f, -0x1.2ddbfcp-3f, -0x1.db4a52p-5f, -0x1.ca3c3ap-7f,
    0x1.cbc302p-7f, -0x1.63cb12p-9f, 0x1.68b626p-13f};  // to 0.043 units
  // erfc(x) = exp(-x^2) Erfc((x - 4) / (x + 4)) / (1 + 2 x)
  static constexpr float kErfc[] = {0x1.3ba592p0f, -0x1.1df1bp-3f, 0x1.f7f56p-7f, 0x1.16edcep-4f, -0x1.9dd8d6p-4f,
    0x1.7fe26cp-4f, -0x1.0fd19cp-4f, 0x1.30d2dcp-5f, -0x1.065ae8p-6f, 0x1.4d5b4ep-8f, -0x1.20010cp-10f,
    -0x1.4ab5c2p-11f};  // to 0.013 units
  // tanh(x / 2) = x TanhAbove(x^2) / TanhBelow(x^2), as right as tanh(x) needs it, |x| <= 9.2
  static constexpr float kTanhAbove[] = {0x1.d70a3ep0f, 0x1.c0b8d8p-5f, 0x1.b880f2p-13f};
  static constexpr float kTanhBelow[] = {0x1.d70a3ep1f, 0x1.aa35p-2f, 0x1.22dfc6p-8f, 0x1.2f007ep-18f};  // to 0.13 units
};

template <>
struct Coefficients<double> {
  // exp(r) = 1 + r + r^2 Exp(r), expm1(r) = r + r^2 Expm1(r); the parts of log(2) by which r is found
  static constexpr double kExp[] = {0x1.000000000000ap-1, 0x1.55555555554f9p-3, 0x1.555555555084p-5,
    0x1.1111111127d18p-7, 0x1.6c16c184386f1p-10, 0x1.a01a012a0ca58p-13, 0x1.a01999e30ac4cp-16, 0x1.71df25b7c789ep-19,
    0x1.28ad9aee545ap-22, 0x1.ad7f386e2c3edp-26};  // to 0.033 units
  static constexpr double kExpm1[] = {0x1.0000000000001p-1, 0x1.5555555555557p-3, 0x1.5555555554d37p-5,
    0x1.11111111100d9p-7, 0x1.6c16c16f0bd33p-10, 0x1.a01a01abea309p-13, 0x1.a019f391d61ddp-16, 0x1.71de022891273p-19,
    0x1.280229f81c7cfp-22, 0x1.af4dff87afd6cp-26, 0x1.e632d4f05f075p-30};  // to 0.025 units
  static constexpr double kLog2[] = {0x1.62e42ffp-1, -0x1.718432a1b0e26p-35};
  // log(1 + f) = 2 s + s z Log(z), s = f / (2 + f), z = s^2
  static constexpr double kLog[] = {0x1.5555555555592p-1, 0x1.999999997feefp-2, 0x1.24924941e0605p-2,
    0x1.c71c52169dd3bp-3, 0x1.74663c42a0b74p-3, 0x1.39a1fd5594b3bp-3, 0x1.2f02d40aa80ddp-3};  // to 0.011 units
  // the same with 2 s + 2/3 s^3 apart, of which more digits are taken: s^5 LogRest(z)
  static constexpr double kLogRest[] = {0x1.9999999999b2fp-2, 0x1.2492492457fep-2, 0x1.c71c722d2f6bep-3,
    0x1.745ce9f5b6e92p-3, 0x1.3b1ee8d174fc4p-3, 0x1.0f8032e948195p-3, 0x1.0e4013c388972p-3};  // to 0.0001 units
  static constexpr double kTwoThirds[] = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
  // of fewer digits, for powers of floats in double
  static constexpr double kShortLog[] = {0x1.555555561d7c1p-1, 0x1.999996ab5656fp-2, 0x1.24941117b5e8dp-2,
    0x1.c62b59dcac20fp-3, 0x1.9111b54343792p-3};  // to 2.7e+2 units
  static constexpr double kShortExp[] = {0x1.0000003a45dd1p-1, 0x1.55555442be822p-3, 0x1.55548d75db8b7p-5,
    0x1.1112711828421p-7, 0x1.6d8d50cb6c104p-10, 0x1.9f0887a81f794p-13};  // to 4.7e+5 units
  // sin(r) = r + r z Sin(z), cos(r) = 1 - z / 2 + z^2 Cos(z), z = r^2, |r| <= pi/4; the parts of pi/2 by which r is found
  static constexpr double kSin[] = {-0x1.5555555555548p-3, 0x1.111111110f7bp-7, -0x1.a01a019bf9bd8p-13,
    0x1.71de356410fe9p-19, -0x1.ae5e57889b464p-26, 0x1.5d8ee9ef22dfcp-33};  // to 0.033 units
  static constexpr double kCos[] = {0x1.555555555554bp-5, -0x1.6c16c16c14f6dp-10, 0x1.a01a019c809e3p-16,
    -0x1.27e4f7e807cd9p-22, 0x1.1ee9d5cca9b79p-29, -0x1.8fa3976119ab7p-37};  // to 0.0005 units
  static constexpr double kHalfPi[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};
  // atan(r) = r + r z Atan(z), |r| <= tan(pi/8); asin(s) = s + s z Asin(z), s <= 1/2
  static constexpr double kAtan[] = {-0x1.555555555553cp-2, 0x1.9999999995734p-3, -0x1.24924922a658p-3,
    0x1.c71c70e370c61p-4, -0x1.745cf8934b63ep-4, 0x1.3b1114213999fp-4, -0x1.10eb806f41c68p-4, 0x1.df0c264a0b84dp-5,
    -0x1.9cc4a9802061ep-5, 0x1.37b2079b1335fp-5, -0x1.251c89e77feadp-6};  // to 0.012 units
  static constexpr double kAsin[] = {0x1.555555555538ap-3, 0x1.333333336f42fp-4, 0x1.6db6db41f79e4p-5,
    0x1.f1c72c64a4d3bp-6, 0x1.6e89f007e6261p-6, 0x1.1c6c230f42b2fp-6, 0x1.c6f89535dfeb8p-7, 0x1.8ee5ba636a166p-7,
    0x1.aa9c9216f3fap-8, 0x1.40caa41ec9ba5p-6, -0x1.0b290d7325c7ep-6, 0x1.05e49cb5e1159p-5};  // to 0.14 units
  // erf(x) = x + x Erf(x^2), |x| <= 1.0; erfc(x) = exp(-x^2) Erfc((x - 4) / (x + 4)) / (1 + 2 x)
  static constexpr double kErf[] = {0x1.06eba8214db68p-3, -0x1.812746b0379bcp-2, 0x1.ce2f21a040ccap-4,
    -0x1.b82ce311f95aap-6, 0x1.565bccf901e02p-8, -0x1.c02db0377f5dp-11, 0x1.f9a2ba0debd9dp-14,
    -0x1.f4ca43f19fd19p-17, 0x1.b97f748614367p-20, -0x1.5c04d586eb9e7p-23, 0x1.d70ac752afdc6p-27,
    -0x1.ab7cfd2a177f5p-31};  // to 0.067 units
  static constexpr double kErfc[] = {0x1.3ba5916e9fd7fp0, -0x1.1df1ad154a29cp-3, 0x1.f7f5df66fd71ep-7,
    0x1.16ecefcfa6043p-4, -0x1.9ddb23c3e8a4dp-4, 0x1.7fee004df6ac5p-4, -0x1.0fb06dfe58cadp-4, 0x1.3079edf9f9a42p-5,
    -0x1.096238807787bp-6, 0x1.49c67191aafc2p-8, -0x1.8d4a9feed1531p-11, -0x1.a1de83d0f917cp-13,
    0x1.3be0d2dacf824p-13, -0x1.9969d5e70db8cp-16, -0x1.78a8721b1721cp-17, 0x1.7fae6269d9aap-18,
    0x1.443911b55ced1p-22, -0x1.bfe123e73fc77p-21, 0x1.0bf5cd2f58ec2p-24, 0x1.ec09a243de5a7p-24,
    -0x1.0b487fb47a418p-27, -0x1.cbf357602d38bp-27, -0x1.d823b7fb4fdd3p-30};  // to 0.1 units
};

}  // namespace weft::kernels
