import Foundation

/// A download by curl.
struct Download {
  var nanoseconds: Double
  var processorNanoseconds: Double

  static func run(_ url: String, bytes: UInt64, processorTime: () -> Double) async -> Download {
    let before = processorTime()
    let output = await Program.output(
      "/usr/bin/curl", "-sk", "-o", "/dev/null", "-w", "%{size_download} %{time_total}", url)
    let used = processorTime() - before
    let words = output.split(separator: " ").compactMap { Double($0) }
    guard words.count == 2, words[0] == Double(bytes) else {
      return Download(nanoseconds: .nan, processorNanoseconds: .nan)
    }
    return Download(nanoseconds: words[1] * 1e9, processorNanoseconds: used)
  }
}
