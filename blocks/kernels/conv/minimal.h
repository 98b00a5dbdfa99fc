// Minimal filtering (Winograd, Arithmetic Complexity of Computations, 1980; for pictures Lavin and Gray, Fast Algorithms for Convolutional Neural
// Networks, 2015): two outputs side by side of a filter of n taps by fewer than 2 n multiplications.
#pragma once

namespace weft::kernels {

/// out[i] = sum over t of source[i + t] * filter[t] for i of 0 and 1 is Outputs(Source(source) * Filter(filter)), multiplied point by point. Each
/// output is made of what its own taps read and of nothing else, and all factors are 1, -1 and 1/2: small integers stay exact.
/// The gradient by the filter, of gradients of both outputs, is FilterGradient(Source(source) * OutputGradients(gradients)).
template <int kTaps>
struct Minimal;

/// 3 multiplications in place of 4.
template <>
struct Minimal<2> {
  static constexpr int kPoints = 3;
  template <class V>
  static void Source(const V* d, V* to) {
    to[0] = d[0] - d[1];
    to[1] = d[1];
    to[2] = d[2] - d[1];
  }
  template <class V>
  static void Filter(const V* g, V* to) {
    to[0] = g[0];
    to[1] = g[0] + g[1];
    to[2] = g[1];
  }
  template <class V>
  static void Outputs(const V* m, V* to) {
    to[0] = m[0] + m[1];
    to[1] = m[1] + m[2];
  }
  template <class V>
  static void OutputGradients(const V* y, V* to) {
    to[0] = y[0];
    to[1] = y[0] + y[1];
    to[2] = y[1];
  }
  template <class V>
  static void FilterGradient(const V* m, V* to) {
    to[0] = m[0] + m[1];
    to[1] = m[1] + m[2];
  }
};

/// 4 in place of 6.
template <>
struct Minimal<3> {
  static constexpr int kPoints = 4;
  template <class V>
  static void Source(const V* d, V* to) {
    to[0] = d[0] - d[2];
    to[1] = d[1] + d[2];
    to[2] = d[2] - d[1];
    to[3] = d[1] - d[3];
  }
  template <class V>
  static void Filter(const V* g, V* to) {
    const V ends = (g[0] + g[2]) * 0.5f, middle = g[1] * 0.5f;
    to[0] = g[0];
    to[1] = ends + middle;
    to[2] = ends - middle;
    to[3] = g[2];
  }
  template <class V>
  static void Outputs(const V* m, V* to) {
    to[0] = m[0] + (m[1] + m[2]);
    to[1] = (m[1] - m[2]) - m[3];
  }
  template <class V>
  static void OutputGradients(const V* y, V* to) {
    to[0] = y[0];
    to[1] = y[0] + y[1];
    to[2] = y[0] - y[1];
    to[3] = -y[1];
  }
  template <class V>
  static void FilterGradient(const V* m, V* to) {
    const V sum = (m[1] + m[2]) * 0.5f;
    to[0] = m[0] + sum;
    to[1] = (m[1] - m[2]) * 0.5f;
    to[2] = sum + m[3];
  }
};

/// The first three taps, then the other two: 7 in place of 10.
template <>
struct Minimal<5> {
  static constexpr int kPoints = Minimal<3>::kPoints + Minimal<2>::kPoints;
  template <class V>
  static void Source(const V* d, V* to) {
    Minimal<3>::Source(d, to);
    Minimal<2>::Source(d + 3, to + Minimal<3>::kPoints);
  }
  template <class V>
  static void Filter(const V* g, V* to) {
    Minimal<3>::Filter(g, to);
    Minimal<2>::Filter(g + 3, to + Minimal<3>::kPoints);
  }
  template <class V>
  static void Outputs(const V* m, V* to) {
    V rest[2];
    Minimal<3>::Outputs(m, to);
    Minimal<2>::Outputs(m + Minimal<3>::kPoints, rest);
    to[0] += rest[0];
    to[1] += rest[1];
  }
  template <class V>
  static void OutputGradients(const V* y, V* to) {
    Minimal<3>::OutputGradients(y, to);
    Minimal<2>::OutputGradients(y, to + Minimal<3>::kPoints);
  }
  template <class V>
  static void FilterGradient(const V* m, V* to) {
    Minimal<3>::FilterGradient(m, to);
    Minimal<2>::FilterGradient(m + Minimal<3>::kPoints, to + 3);
  }
};

}  // namespace weft::kernels
