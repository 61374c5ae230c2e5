import Foundation

enum TransportBenchmarkError: Error {
  case missing(String)
}

/// An nginx with two workers that answers everything by `return`.
struct Nginx {
  let port: Int
  private let workers: [String]

  private static let folder = FileManager.default.temporaryDirectory.appendingPathComponent("vesta-bench-nginx").path

  static func start() throws -> Nginx {
    for program in ["/usr/bin/wrk", "/usr/sbin/nginx"] where !FileManager.default.isExecutableFile(atPath: program) {
      throw TransportBenchmarkError.missing(program)
    }
    stop()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let port = 18_091
    let text = """
      worker_processes 2; pid \(folder)/pid; error_log \(folder)/errors; daemon on;
      events { worker_connections 4096; }
      http {
        access_log off; keepalive_requests 1000000000;
        client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
        uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
        server {
          listen 127.0.0.1:\(port) reuseport;
          location / { default_type text/plain; return 200 "hello, world\\n"; }
        }
      }
      """
    try text.write(toFile: "\(folder)/conf", atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
    process.arguments = ["-c", "\(folder)/conf"]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0, let master = processID else { throw TransportBenchmarkError.missing("nginx") }
    let children = try String(contentsOfFile: "/proc/\(master)/task/\(master)/children", encoding: .utf8)
    return Nginx(port: port, workers: children.split(separator: " ").map(String.init))
  }

  /// Ends the one that this benchmark has started.
  static func stop() {
    guard let master = processID else { return }
    kill(master, SIGTERM)
    try? FileManager.default.removeItem(atPath: folder)
  }

  private static var processID: Int32? {
    (try? String(contentsOfFile: "\(folder)/pid", encoding: .utf8))
      .flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
  }

  var processorTime: Double { workers.map(ProcessorTime.of).reduce(0, +) }
}
