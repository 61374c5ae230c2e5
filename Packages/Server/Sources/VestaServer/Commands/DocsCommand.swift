import Foundation
import VestaBytes
import VestaTransport
import VestaTransportInterop

/// `vesta docs [FOLDER] [--port N]`: serves the documentation that `make docs` has written, on this machine.
public enum DocsCommand {
  /// Where `make docs` writes the site, below the directory of the repository.
  static let usualFolder = ".build/docs/site"

  /// Serves until the first signal.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after `docs`.
  ///   - directory: The directory that a relative folder is in.
  ///   - signals: The signals that this process receives.
  ///   - say: Takes the address.
  /// - Returns: The output, and the status.
  public static func run(
    _ arguments: [String], in directory: String, until signals: RunSignals, say: (String) -> Void
  ) async -> CommandResult {
    await .of { () throws(ServerError) in
      let options = try CommandOptions(arguments, values: ["--port"])
      guard options.words.count < 2 else { throw ServerError("vesta docs takes one folder.") }
      let name = options.words.first ?? usualFolder
      let folder = name.hasPrefix("/") ? name : "\(directory)/\(name)"
      guard FileManager.default.fileExists(atPath: "\(folder)/documentation/index.html") else {
        throw ServerError("\(folder) has no documentation. Run `make docs`, or name the folder that it wrote.")
      }
      guard let port = Int(options.values["--port"] ?? "7710"), (0...65_535).contains(port) else {
        throw ServerError("--port is no port: give a number from 0 to 65535.")
      }
      try await serve(DocumentationFolder(folder), port: port, until: signals, say: say)
      return CommandResult("The documentation is served no longer.")
    }
  }

  private static func serve(
    _ handler: DocumentationFolder, port: Int, until signals: RunSignals, say: (String) -> Void
  ) async throws(ServerError) {
    do {
      let server = try VestaTransportServer()
      do {
        let listener = try await server.listen(at: .internet(host: "127.0.0.1", port: port), handler: handler)
        signals.serves()
        say("http://\(listener.address)/documentation/")
        await signals.untilEnd()
        await listener.shutDown(within: .seconds(1))
      } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    } catch {
      throw ServerError("The documentation cannot be served at port \(port): \(error). Name another one with --port.")
    }
  }
}

/// Answers with the files of a folder, and with the `index.html` of its folders.
struct DocumentationFolder: HTTPHandler {
  private let root: String

  /// - Parameter root: The path of the folder.
  init(_ root: String) { self.root = root }

  func reply(to request: HTTPRequest) -> HTTPReply {
    guard request.method == .get || request.method == .head else { return .response(HTTPResponse(405)) }
    if request.path == "/" { return .response(HTTPResponse(302, fields: ["location": "/documentation/"])) }
    guard let path = Self.path(request.path) else { return .response(Self.notFound) }
    for (name, file) in [
      (path, TransportFile("\(root)/\(path)")), ("index.html", TransportFile("\(root)/\(path)/index.html")),
    ] {
      guard let file else { continue }
      return .response(file.response(to: request, fields: [.contentType: Self.type(of: name)]))
    }
    return .response(Self.notFound)
  }

  private static let notFound = HTTPResponse(
    404, fields: [.contentType: "text/plain"], body: .text("There is no such page. The first one is /documentation/.\n")
  )

  /// The path of a file below the folder; `nil` for one that leads out of it.
  static func path(_ target: Substring) -> String? {
    guard let text = try? PercentEncoding.decode(target), !text.utf8.contains(0) else { return nil }
    let parts = text.parts(at: "/", omittingEmpty: true)
    return parts.contains { $0 == ".." || $0 == "." } ? nil : parts.joined(separator: "/")
  }

  /// The type of the content of a file, by the end of its name.
  static func type(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html"?: "text/html; charset=utf-8"
    case "js"?: "text/javascript; charset=utf-8"
    case "css"?: "text/css; charset=utf-8"
    case "json"?: "application/json"
    case "svg"?: "image/svg+xml"
    case "png"?: "image/png"
    case "jpg"?: "image/jpeg"
    case "ico"?: "image/vnd.microsoft.icon"
    default: "application/octet-stream"
    }
  }
}
