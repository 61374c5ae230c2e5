import Foundation
import VestaBytes
import VestaFunctionsEndpoints
import VestaMessagingPush
import VestaServiceInterop

/// The arguments of `vesta serve`.
public struct ServeArguments: Sendable, Hashable {
  /// The settings of the arguments.
  public var settings = ServerSettings()

  /// Whether help was asked for.
  public var asksForHelp = false

  /// Whether log messages are lines of JSON.
  public var logsJSON = false

  /// The directory of an export that is imported at the start.
  public var importPath: String?

  /// The directory that everything is exported to at the end.
  public var exportPath: String?

  /// Reads arguments; `firebase.json` and `.firebaserc` say the rest.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after `serve`.
  ///   - directory: The directory of `firebase.json` and `.firebaserc`, in which `.vesta` keeps the data.
  ///   - keepsData: Whether data is kept where no option says so.
  /// - Throws: ``ServerError``.
  public init(_ arguments: [String], in directory: String, keepsData: Bool = true) throws(ServerError) {
    var project: String?
    var hosts: [String]?
    var ports: [String: Int] = [:]
    var functions: [String: String] = [:]
    var emulator: String?
    var tls: (chain: String?, key: String?) = (nil, nil)
    var data: String? = keepsData ? "\(directory)/.vesta" : nil
    var config: String?
    var exportsOnExit = false
    var namesData = false
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let name = String(argument.prefix { $0 != "=" })
      var inline = argument.count > name.count ? String(argument.dropFirst(name.count + 1)) : nil
      func value() throws(ServerError) -> String {
        defer { inline = nil }
        guard let value = inline ?? rest.popFirst(), !value.isEmpty else { throw ServerError("\(name) needs a value.") }
        return value
      }
      switch name {
      case "--project", "-P": project = try value()
      case "--data": (data, namesData) = (try value(), true)
      case "--memory": data = nil
      case "--host": hosts = Self.hosts(try value())
      case "--config", "-c": config = try value()
      case "--function":
        let parts = try value().split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else {
          throw ServerError("\(name) is written NAME=URL, as in greet=http://127.0.0.1:9001/greet.")
        }
        functions[String(parts[0])] = String(parts[1])
      case "--functions-emulator": emulator = try value()
      case "--enforce-app-check":
        settings.enforcesAppCheck = Set(try value().split(separator: ",").map(String.init))
        if let unknown = settings.enforcesAppCheck.subtracting(AppCheckEnforcement.known).sorted().first {
          let known = AppCheckEnforcement.known.sorted().joined(separator: ", ")
          throw ServerError("\(name) names \(unknown), which has no App Check. Known: \(known).")
        }
      case "--tls-certificate": tls.chain = try value()
      case "--tls-key": tls.key = try value()
      case "--push-contact": settings.pushContact = try Self.pushContact(name, try value())
      case "--verbose": settings.isVerbose = true
      case "--log-format":
        let format = try value()
        guard ["text", "json"].contains(format) else { throw ServerError("--log-format is text or json.") }
        logsJSON = format == "json"
      case "--store":
        let url = try value()
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
          throw ServerError("--store is the address of a PostgreSQL: postgres://user@host/database.")
        }
        settings.postgres = url
      case "--import": importPath = try value()
      case "--export-on-exit":
        // Without a value it is the directory that was imported, as in the Firebase CLI.
        exportsOnExit = true
        if inline != nil || rest.first.map({ !$0.hasPrefix("-") }) == true { exportPath = try value() }
      case "--only":
        settings.products = Set(try value().split(separator: ",").map { String($0.prefix { $0 != ":" }) })
      case "--production": settings.isDevelopment = false
      case "--help", "-h": asksForHelp = true
      case "--port": ports[ServerSettings.shared] = try Self.port(name, try value())
      case _ where name.hasPrefix("--port-"):
        let product = String(name.dropFirst("--port-".count))
        guard ServerSettings.usualPorts[product] != nil else {
          let known = ServerSettings.usualPorts.keys.sorted().joined(separator: ", ")
          throw ServerError("There is no port \"\(product)\". Known: \(known).")
        }
        ports[product] = try Self.port(name, try value())
      default: throw ServerError("\"\(argument)\" is no option of serve. `vesta serve --help` lists them.")
      }
      guard inline == nil else { throw ServerError("\(name) takes no value.") }
    }
    if exportsOnExit, exportPath == nil {
      guard let importPath else { throw ServerError("--export-on-exit needs a directory, or that of --import.") }
      exportPath = importPath
    }
    // As in the suite: data of an earlier run would be mixed with the older data of the export.
    if importPath != nil, !namesData, settings.postgres == nil { data = nil }
    if settings.postgres != nil, data == nil {
      throw ServerError("--memory keeps nothing, and --store everything: leave one of them out.")
    }
    switch tls {
    case (let chain?, let key?): settings.certificate = ServerSettings.Certificate(chain: chain, key: key)
    case (nil, nil): break
    default: throw ServerError("--tls-certificate and --tls-key belong together: name both files.")
    }
    let configuration = try Self.configuration(config, directory)
    settings.project = project ?? Self.usualProject(directory) ?? ServerSettings.noProject
    settings.data = data
    settings.isSingleProject = configuration?.isSingleProject ?? true
    settings.ports = (configuration?.ports ?? [:]).merging(ports) { $1 }
    settings.functions = (configuration?.functions ?? [:]).merging(functions) { $1 }
    settings.functionsEmulator = emulator ?? configuration?.functionsEmulator
    if let address = settings.functionsEmulator, settings.functions["*"] == nil {
      settings.functions["*"] = address.contains("://") ? address : "http://\(address)"
    }
    do { _ = try FunctionPlaces(settings.functions) } catch { throw ServerError(error.message) }
    let folder =
      config.map { URL(filePath: $0).deletingLastPathComponent() }
      ?? URL(filePath: directory, directoryHint: .isDirectory)
    func absolute(_ path: String) -> String {
      URL(filePath: path, relativeTo: folder).absoluteURL.standardizedFileURL.path(percentEncoded: false)
    }
    settings.rules = (configuration?.rules ?? [:]).mapValues(absolute)
    settings.indexes = (configuration?.indexes ?? [:]).mapValues(absolute)
    let targets = FileManager.default.contents(atPath: "\(directory)/.firebaserc").map {
      FirebaseFile.targets(json: Array($0), project: settings.project)
    }
    settings.namedRules =
      try configuration?.namedRules(targets: targets ?? [:])
      .mapValues { $0.mapValues(absolute) } ?? [:]
    settings.hosts = hosts ?? configuration?.hosts["firestore"].map(Self.hosts) ?? ServerSettings.loopback
  }

  /// What `vesta serve --help` prints.
  public static let help = """
    vesta serve: Firebase's services on this machine.

      --project P        the project of requests that name none (default: that of .firebaserc, or demo-no-project)
      --data DIR         where data is kept (default: .vesta)
      --memory           keep nothing
      --host HOST        listen at this address (default: this machine alone, 127.0.0.1 and ::1)
      --port N           the port of all products together (default 7700; 0 lets the system choose)
      --port-NAME N      the port of one: auth (9099), database (9000), firestore (8080), functions (5001),
                         storage (9199), hub (4400)
      --function F=URL   requests for the function F go to this address; * for every function that has none
      --functions-emulator HOST:PORT  a functions emulator runs there: it gets calls as with --function *, and events
      --config FILE      a firebase.json with ports and rules (default: that of this directory, if there is one)
      --only A,B         serve these products alone, such as auth,firestore
      --store URL        keep data in PostgreSQL: postgres://user@host/database (files stay in the data directory)
      --import DIR       import an export of the Firebase CLI's suite, or of vesta, at the start; data is then kept
                         with --data alone, where documents of the export replace those that are there
      --export-on-exit [DIR]  export everything at the end (default: the directory of --import)
      --enforce-app-check A,B  these products refuse calls without a valid App Check token
      --tls-certificate FILE, --tls-key FILE  encrypt all ports by this certificate with its chain, in PEM; changed files are read
                         again
      --push-contact URL  whom the push services of browsers may write to: mailto:push@your.domain, or a page of https
      --verbose          a line for each request
      --log-format F     text or json
      --production       refuse unsigned tokens, the word "owner", and the calls of local test suites
    """

  private static func hosts(_ host: String) -> [String] { host == "localhost" ? ServerSettings.loopback : [host] }

  private static func pushContact(_ name: String, _ text: String) throws(ServerError) -> String {
    guard MessagingPushOptions.isSubject(text) else {
      throw ServerError("\(name) is written mailto:push@your.domain, or is a URL of https.")
    }
    return text
  }

  private static func port(_ name: String, _ text: String) throws(ServerError) -> Int {
    guard let port = Int(text), (0...65_535).contains(port) else {
      throw ServerError("\(name) is no port: give a number from 0 to 65535.")
    }
    return port
  }

  private static func configuration(
    _ named: String?, _ directory: String
  ) throws(ServerError) -> FirebaseFile? {
    let path = named ?? "\(directory)/firebase.json"
    guard let bytes = FileManager.default.contents(atPath: path) else {
      if let named { throw ServerError("\(named) cannot be read. Name a firebase.json with --config.") }
      return nil
    }
    return try FirebaseFile(json: Array(bytes))
  }

  /// The project of `.firebaserc`; `nil` where it has none.
  static func usualProject(_ directory: String) -> String? {
    FileManager.default.contents(atPath: "\(directory)/.firebaserc")
      .flatMap { FirebaseFile.defaultProject(json: Array($0)) }
  }
}
