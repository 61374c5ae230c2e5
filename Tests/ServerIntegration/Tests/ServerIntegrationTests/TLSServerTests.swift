import Foundation
import Testing
import VestaTesting

/// Ports with a certificate, and clients that check it.
@Suite(.serialized) struct TLSServerTests {
  @Test(.timeLimit(.minutes(5)))
  func `all ports are encrypted by a certificate that clients check, and that is replaced by its files`() async throws {
    try await withTemporaryDirectory { directory in
      let (chain, key) = (directory.appending(path: "chain.pem").path, directory.appending(path: "key.pem").path)
      let (roots, others) = (directory.appending(path: "roots.pem").path, directory.appending(path: "others.pem").path)
      try await Self.certify(chain, key)
      try FileManager.default.copyItem(atPath: chain, toPath: roots)
      let server = try await ServerProcess(
        in: directory, "--memory", "--project", "demo", "--tls-certificate", chain, "--tls-key", key)
      let result = try await server.python("tls", ["cases"], ["ROOTS": roots])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 4)
      try await Self.certify(chain, key)
      try FileManager.default.copyItem(atPath: chain, toPath: others)
      let renewed = try await server.python("tls", ["reload"], ["ROOTS": roots, "OTHER_ROOTS": others])
      #expect(renewed.status == 0, "\(renewed.lines.joined(separator: "\n"))")
      #expect(await server.end() == 0)
    }
  }

  @Test(
    .timeLimit(.minutes(5)), arguments: [["--tls-key", "none.pem"], ["--tls-key", "k", "--tls-certificate", "c"]])
  func `a server whose certificate cannot be used does not start, and says why`(arguments: [String]) async throws {
    try await withTemporaryDirectory { directory in
      _ = await #expect(throws: ServerProcess.Failure.self) {
        try await ServerProcess(in: directory, "--memory", arguments: arguments)
      }
    }
  }

  /// Writes a certificate for this machine that it has signed itself.
  private static func certify(_ chain: String, _ key: String) async throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
      "-subj",
      "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", chain,
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    await TestThreads.run { process.waitUntilExit() }
    #expect(process.terminationStatus == 0)
  }
}
