import BenchmarkKit
import Foundation

enum TransportBenchmarkError: Error {
  case missing(String)
}

/// An nginx with two workers that answers by `return`, and sends a file of a gibibyte, in clear and with TLS.
struct Nginx {
  let port: Int
  let securePort: Int
  let workers: [String]

  static let chain = "\(folder)/chain.pem"
  static let key = "\(folder)/key.pem"
  static let file = "\(folder)/file"
  /// Where uploads arrive.
  static let uploads = "\(folder)/put"
  static let fileBytes: UInt64 = 1 << 30

  private static let folder = FileManager.default.temporaryDirectory.appendingPathComponent("vesta-bench-nginx").path

  static func start() throws -> Nginx {
    for program in ["/usr/bin/wrk", "/usr/sbin/nginx"] where !FileManager.default.isExecutableFile(atPath: program) {
      throw TransportBenchmarkError.missing(program)
    }
    stop()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let (port, securePort) = (18_091, 18_092)
    try makeFiles()
    let configuration = """
      user root; worker_processes 2; pid \(folder)/pid; error_log stderr notice; daemon off;
      events { worker_connections 4096; }
      http {
        access_log off; sendfile on; tcp_nodelay on; keepalive_requests 1000000000;
        client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
        uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
        server {
          listen 127.0.0.1:\(port) reuseport;
          location / { default_type text/plain; return 200 "hello, world\\n"; }
          location /file { root \(folder); }
          location /put/ {
            root \(folder); dav_methods PUT; create_full_put_path on; client_max_body_size 0; client_body_buffer_size 64k;
          }
        }
        server {
          listen 127.0.0.1:\(securePort) ssl reuseport;
          ssl_certificate \(chain); ssl_certificate_key \(key); ssl_protocols TLSv1.2 TLSv1.3;
          location / { default_type text/plain; return 200 "hello, world\\n"; }
          location /file { root \(folder); }
        }
      }
      """
    try configuration.write(toFile: "\(folder)/conf", atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
    process.arguments = ["-c", "\(folder)/conf"]
    let notices = Pipe()
    process.standardError = notices
    try process.run()
    // Its sockets listen before its workers start, each of which it announces.
    let reader = notices.fileHandleForReading
    var text = ""
    while true {
      let data = reader.availableData
      guard !data.isEmpty else { throw TransportBenchmarkError.missing("nginx") }
      text += String(decoding: data, as: UTF8.self)
      let workers = text.components(separatedBy: "start worker process ").dropFirst().map { $0.prefix { $0.isNumber } }
      guard workers.count == 2, text.hasSuffix("\n") else { continue }
      reader.readabilityHandler = { _ = $0.availableData }
      return Nginx(port: port, securePort: securePort, workers: workers.map(String.init))
    }
  }

  /// A key and a certificate for both servers, and a file without blocks on the disk.
  private static func makeFiles() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
      "/CN=bench",
      "-keyout", key, "-out", chain,
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    _ = FileManager.default.createFile(atPath: file, contents: nil)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
    try handle.truncate(atOffset: fileBytes)
    try handle.close()
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
