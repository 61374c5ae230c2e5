import BenchmarkKit
import Foundation

/// The same document read and written by protobuf for C++, where `protoc`, its library and a compiler are installed.
actor CPlusPlus {
  /// The definition of the fields that the document has, by hand and with the numbers of the published one.
  private static let definition = """
    syntax = "proto3";
    message Time { int64 seconds = 1; int32 nanos = 2; }
    message Point { double latitude = 1; double longitude = 2; }
    message Values { repeated Value values = 1; }
    message Entries { map<string, Value> fields = 1; }
    message Value {
      oneof kind {
        bool boolean = 1; int64 integer = 2; double number = 3; string reference = 5; Entries entries = 6;
        Point point = 8; Values values = 9; Time time = 10; int32 null = 11; string text = 17; bytes data = 18;
      }
    }
    message Document {
      string name = 1; map<string, Value> fields = 2; Time created = 3; Time updated = 4;
    }
    """

  private static let program = """
    #include <chrono>
    #include <cstdio>
    #include <fstream>
    #include <iterator>
    #include "document.pb.h"
    int main(int, char **arguments) {
      std::ifstream file(arguments[1], std::ios::binary);
      std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      const int count = 200000;
      size_t total = 0;
      Document document;
      if (!document.ParseFromString(bytes)) return 1;
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < count; i++) {
        if (arguments[2][0] == 'r') {
          Document fresh;
          fresh.ParseFromString(bytes);
          total += fresh.fields_size();
        } else {
          std::string text;
          document.SerializeToString(&text);
          total += text.size();
        }
      }
      auto time = std::chrono::steady_clock::now() - start;
      if (total == 0) return 1;
      printf("%f\\n", double(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()) / count);
    }
    """

  private let bytes: [UInt8]
  private var built: String?

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The cost of a document in nanoseconds; not a number where it cannot be built.
  func cost(reads: Bool) async -> Double {
    let folder: String
    if let built { folder = built } else { folder = await build() }
    built = folder
    let text = await Program.output("\(folder)/bench", "\(folder)/document.bin", reads ? "r" : "w")
    return Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? .nan
  }

  private func build() async -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "vesta-bench-wire-\(getpid())")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try? Self.definition.write(to: folder.appending(path: "document.proto"), atomically: true, encoding: .utf8)
    try? Self.program.write(to: folder.appending(path: "bench.cc"), atomically: true, encoding: .utf8)
    try? Data(bytes).write(to: folder.appending(path: "document.bin"))
    let path = folder.path()
    _ = await Program.output(
      "/bin/sh", "-c",
      "cd '\(path)' && protoc --cpp_out=. document.proto && g++ -O2 -o bench bench.cc document.pb.cc -lprotobuf")
    return path
  }

  /// Removes the files.
  func remove() {
    if let built { try? FileManager.default.removeItem(atPath: built) }
  }
}
