// Made by coefficients.py. Polynomials from the constant on; their errors in units of the last place of what they serve.
#pragma once

namespace weft::kernels {

template <class T>
struct Coefficients;

template <>
struct Coefficients<float> {
  // exp(r) = 1 + r + r^2 Exp(r); the parts of log(2) by which r is found
  static constexpr float kExp[] = {0x1.fffffcp-2f, 0x1.55549p-3f, 0x1.5558f4p-5f, 0x1.123a68p-7f, 0x1.6a234p-10f};  // to 0.052 units
  // expm1(r) = r + r^2 Expm1(r)
  static constexpr float kExpm1[] = {0x1p-1f, 0x1.555556p-3f, 0x1.55549ep-5f, 0x1.11101cp-7f, 0x1.6d83f2p-10f, 0x1.a2a3fcp-13f};  // to 0.0045 units
  static constexpr float kLog2[] = {0x1.62ep-1f, 0x1.0bfbe8p-15f};
  // log(1 + f) = 2 s + s z Log(z), s = f / (2 + f), z = s^2
  static constexpr float kLog[] = {0x1.55557ap-1f, 0x1.995edp-2f, 0x1.31e0dep-2f};  // to 0.013 units
  // sin(r) = r + r z Sin(z), cos(r) = 1 - z / 2 + z^2 Cos(z), z = r^2, |r| <= pi/4; the parts of pi/2 by which r is found
  static constexpr float kSin[] = {-0x1.555546p-3f, 0x1.11073p-7f, -0x1.99406ap-13f};  // to 0.064 units
  static constexpr float kCos[] = {0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e874p-16f};  // to 0.002 units
  static constexpr float kHalfPi[] = {0x1.922p0f, -0x1.2afp-18f, 0x1.0b4p-34f, 0x1.84698ap-48f};
  // atan(r) = r + r z Atan(z), |r| <= tan(pi/8); asin(s) = s + s z Asin(z), s <= 1/2
  static constexpr float kAtan[] = {-0x1.55554ap-2f, 0x1.999188p-3f, -0x1.23b3fap-3f, 0x1.b1da1cp-4f, -0x1.f18d64p-5f};  // to 0.011 units
  static constexpr float kAsin[] = {0x1.5555c8p-3f, 0x1.3301cep-4f, 0x1.7480ccp-5f, 0x1.8c0d6ap-6f, 0x1.59858ep-5f};  // to 0.082 units
  // erf(x) = x + x Erf(x^2), |x| <= 1; erfc(x) = exp(-x^2) Erfc((x - 4) / (x + 4)) / (1 + 2 x)
  static constexpr float kErf[] = {0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2cf4p-4f, -0x1.b7f8dcp-6f, 0x1.540418p-8f, -0x1.a3eaa6p-11f,
    0x1.4946bp-14f};  // to 0.02 units
  static constexpr float kErfc[] = {0x1.3ba592p0f, -0x1.1df1bp-3f, 0x1.f7f56p-7f, 0x1.16edcep-4f, -0x1.9dd8d6p-4f, 0x1.7fe26cp-4f,
    -0x1.0fd19cp-4f, 0x1.30d2dcp-5f, -0x1.065ae8p-6f, 0x1.4d5b4ep-8f, -0x1.20010cp-10f, -0x1.4ab5c2p-11f};  // to 0.013 units
  // tanh(x / 2) = x TanhAbove(x^2) / TanhBelow(x^2), as right as tanh(x) needs it, |x| <= 9.2
  static constexpr float kTanhAbove[] = {0x1.d70a3ep0f, 0x1.c0b8d8p-5f, 0x1.b880f2p-13f};
  static constexpr float kTanhBelow[] = {0x1.d70a3ep1f, 0x1.aa35p-2f, 0x1.22dfc6p-8f, 0x1.2f007ep-18f};  // to 0.13 units
};

template <>
struct Coefficients<double> {
  // exp(r) = 1 + r + r^2 Exp(r); the parts of log(2) by which r is found
  static constexpr double kExp[] = {0x1.000000000000ap-1, 0x1.55555555554f9p-3, 0x1.55555555507f2p-5, 0x1.1111111127e8cp-7,
    0x1.6c16c1844ac04p-10, 0x1.a01a0129b1e19p-13, 0x1.a01999ae72734p-16, 0x1.71df2630d3292p-19, 0x1.28adcddc8e8a7p-22,
    0x1.ad7efc7f99e85p-26};  // to 0.033 units
  // expm1(r) = r + r^2 Expm1(r)
  static constexpr double kExpm1[] = {0x1.0000000000001p-1, 0x1.5555555555557p-3, 0x1.5555555554d2fp-5, 0x1.11111111100c9p-7,
    0x1.6c16c16f0e194p-10, 0x1.a01a01abf344bp-13, 0x1.a019f38aa23a8p-16, 0x1.71de020bcaffbp-19, 0x1.2802316f7cdcbp-22,
    0x1.af4e3b5dc6a6fp-26, 0x1.e632fe15b36d3p-30};  // to 0.025 units
  static constexpr double kLog2[] = {0x1.62e42ffp-1, -0x1.718432a1b0e26p-35};
  // log(1 + f) = 2 s + s z Log(z), s = f / (2 + f), z = s^2
  static constexpr double kLog[] = {0x1.5555555555592p-1, 0x1.999999997feefp-2, 0x1.24924941e0605p-2, 0x1.c71c52169dd3bp-3,
    0x1.74663c42a0b74p-3, 0x1.39a1fd5594b3bp-3, 0x1.2f02d40aa80ddp-3};  // to 0.011 units
  // the same with 2 s + 2/3 s^3 apart: s^5 LogRest(z)
  static constexpr double kLogRest[] = {0x1.999999999999ap-2, 0x1.249249249246fp-2, 0x1.c71c71c72274fp-3, 0x1.745d17418049cp-3,
    0x1.3b13b31149c51p-3, 0x1.11109463ee6a2p-3, 0x1.e20b7c8fce889p-4, 0x1.aaec1dbc7a5b9p-4, 0x1.c31a9683d1762p-4};  // to 1.8e-5 units
  static constexpr double kTwoThirds[] = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
  // sin(r) = r + r z Sin(z), cos(r) = 1 - z / 2 + z^2 Cos(z), z = r^2, |r| <= pi/4; the parts of pi/2 by which r is found
  static constexpr double kSin[] = {-0x1.5555555555548p-3, 0x1.111111110f78fp-7, -0x1.a01a019bf57f4p-13, 0x1.71de3560427e3p-19,
    -0x1.ae5e5475dd01cp-26, 0x1.5d8dff62ddb28p-33};  // to 0.033 units
  static constexpr double kCos[] = {0x1.555555555554bp-5, -0x1.6c16c16c14f47p-10, 0x1.a01a019c7ce1bp-16, -0x1.27e4f7e543938p-22,
    0x1.1ee9d3e004508p-29, -0x1.8fa292b0cca96p-37};  // to 0.00051 units
  static constexpr double kHalfPi[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};
  // atan(r) = r + r z Atan(z), |r| <= tan(pi/8); asin(s) = s + s z Asin(z), s <= 1/2
  static constexpr double kAtan[] = {-0x1.555555555553cp-2, 0x1.9999999995699p-3, -0x1.24924922a2539p-3, 0x1.c71c70e1cec6bp-4,
    -0x1.745cf862b8378p-4, 0x1.3b1110a736d5dp-4, -0x1.10eb57de1527bp-4, 0x1.df09c9ef0b0bfp-5, -0x1.9cb9cc031426ep-5, 0x1.3795e2a5b2639p-5,
    -0x1.24ddca88d4a1ap-6};  // to 0.012 units
  static constexpr double kAsin[] = {0x1.555555555538ep-3, 0x1.333333336eccap-4, 0x1.6db6db424705bp-5, 0x1.f1c72c4a2daccp-6,
    0x1.6e89f295a0334p-6, 0x1.1c6bfb84edb02p-6, 0x1.c6fbb5281a545p-7, 0x1.8ed0c293960cp-7, 0x1.ab559f3afc141p-8, 0x1.4049a4642c7d1p-6,
    -0x1.0a5b097949192p-6, 0x1.059cd314e2bf2p-5};  // to 0.13 units
  // erf(x) = x + x Erf(x^2), |x| <= 1; erfc(x) = exp(-x^2) Erfc((x - 4) / (x + 4)) / (1 + 2 x)
  static constexpr double kErf[] = {0x1.06eba8214db68p-3, -0x1.812746b0379bcp-2, 0x1.ce2f21a040ccap-4, -0x1.b82ce311f95abp-6,
    0x1.565bccf901e2dp-8, -0x1.c02db0377fc62p-11, 0x1.f9a2ba0df5e3p-14, -0x1.f4ca43f23cfe5p-17, 0x1.b97f748c3e256p-20,
    -0x1.5c04d5ad4513cp-23, 0x1.d70ac85fe01a1p-27, -0x1.ab7d0058b0eaap-31};  // to 0.067 units
  static constexpr double kErfc[] = {0x1.3ba5916e9fd7fp0, -0x1.1df1ad154a29cp-3, 0x1.f7f5df66fd71ep-7, 0x1.16ecefcfa6043p-4,
    -0x1.9ddb23c3e8a4dp-4, 0x1.7fee004df6ac5p-4, -0x1.0fb06dfe58cadp-4, 0x1.3079edf9f9a42p-5, -0x1.096238807787bp-6, 0x1.49c67191aafc2p-8,
    -0x1.8d4a9feed1531p-11, -0x1.a1de83d0f917cp-13, 0x1.3be0d2dacf824p-13, -0x1.9969d5e70db8cp-16, -0x1.78a8721b1721cp-17,
    0x1.7fae6269d9aap-18, 0x1.443911b55ced1p-22, -0x1.bfe123e73fc77p-21, 0x1.0bf5cd2f58ec2p-24, 0x1.ec09a243de5a7p-24,
    -0x1.0b487fb47a418p-27, -0x1.cbf357602d38bp-27, -0x1.d823b7fb4fdd3p-30};  // to 0.1 units
};

}  // namespace weft::kernels
