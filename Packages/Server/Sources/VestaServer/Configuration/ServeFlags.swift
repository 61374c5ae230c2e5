import VestaMessagingPush
import VestaServiceInterop

/// The options of `vesta serve` as they are written, before the configuration is read.
struct ServeFlags {
  /// The settings by the options alone, without the configuration.
  var settings = ServerSettings()
  var asksForHelp = false
  var logsJSON = false
  var importPath: String?
  var exportPath: String?
  var exportsOnExit = false
  var project: String?
  var hosts: [String]?
  var ports: [String: Int] = [:]
  var functions: [String: String] = [:]
  var emulator: String?
  var tls: (chain: String?, key: String?) = (nil, nil)
  /// The directory of the data; `nil` for memory.
  var data: String?
  /// Whether `--data` names the directory.
  var namesData = false
  var config: String?

  init(data: String?) { self.data = data }

  /// An option that is read: its name, and the values that follow.
  struct Reading {
    let name: String
    /// The value after an equals sign.
    fileprivate(set) var inline: String?
    fileprivate(set) var rest: ArraySlice<String>

    /// Whether a value follows, which options that may have none ask.
    var hasValue: Bool { inline != nil || rest.first.map { !$0.hasPrefix("-") } == true }

    mutating func value() throws(ServerError) -> String {
      defer { inline = nil }
      guard let value = inline ?? rest.popFirst(), !value.isEmpty else { throw ServerError("\(name) needs a value.") }
      return value
    }

    /// The parts of a value with commas.
    mutating func list() throws(ServerError) -> [String] { try value().split(separator: ",").map(String.init) }
  }

  private typealias Option = @Sendable (_ flags: inout Self, _ reading: inout Reading) throws(ServerError) -> Void

  private static let options: [String: Option] = [
    "--project": { flags, reading throws(ServerError) in flags.project = try reading.value() },
    "-P": { flags, reading throws(ServerError) in flags.project = try reading.value() },
    "--data": { flags, reading throws(ServerError) in (flags.data, flags.namesData) = (try reading.value(), true) },
    "--memory": { flags, _ in flags.data = nil },
    "--store": { flags, reading throws(ServerError) in flags.settings.postgres = try store(&reading) },
    "--config": { flags, reading throws(ServerError) in flags.config = try reading.value() },
    "-c": { flags, reading throws(ServerError) in flags.config = try reading.value() },
    "--host": { flags, reading throws(ServerError) in flags.hosts = hosts(try reading.value()) },
    "--port": { flags, reading throws(ServerError) in flags.ports[ServerSettings.shared] = try port(&reading) },
    "--only": { flags, reading throws(ServerError) in
      flags.settings.products = Set(try reading.list().map { String($0.prefix { $0 != ":" }) })
    },
    "--function": { flags, reading throws(ServerError) in
      let (name, url) = try function(&reading)
      flags.functions[name] = url
    },
    "--functions-emulator": { flags, reading throws(ServerError) in flags.emulator = try reading.value() },
    "--enforce-app-check": { flags, reading throws(ServerError) in
      flags.settings.enforcesAppCheck = try enforcement(&reading)
    },
    "--tls-certificate": { flags, reading throws(ServerError) in flags.tls.chain = try reading.value() },
    "--tls-key": { flags, reading throws(ServerError) in flags.tls.key = try reading.value() },
    "--push-contact": { flags, reading throws(ServerError) in flags.settings.pushContact = try pushContact(&reading) },
    "--passkey-domain": { flags, reading throws(ServerError) in flags.settings.passkeyDomain = try domain(&reading) },
    "--import": { flags, reading throws(ServerError) in flags.importPath = try reading.value() },
    "--export-on-exit": { flags, reading throws(ServerError) in
      // Without a value it is the directory that was imported, as in the Firebase CLI.
      flags.exportsOnExit = true
      if reading.hasValue { flags.exportPath = try reading.value() }
    },
    "--verbose": { flags, _ in flags.settings.isVerbose = true },
    "--log-format": { flags, reading throws(ServerError) in
      let format = try reading.value()
      guard ["text", "json"].contains(format) else { throw ServerError("--log-format is text or json.") }
      flags.logsJSON = format == "json"
    },
    "--production": { flags, _ in flags.settings.isDevelopment = false },
    "--help": { flags, _ in flags.asksForHelp = true },
    "-h": { flags, _ in flags.asksForHelp = true },
  ]

  /// Reads the options in their order; later ones replace earlier ones.
  mutating func read(_ arguments: [String]) throws(ServerError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let name = String(argument.prefix { $0 != "=" })
      let inline = argument.count > name.count ? String(argument.dropFirst(name.count + 1)) : nil
      var reading = Reading(name: name, inline: inline, rest: rest)
      if let option = Self.options[name] {
        try option(&self, &reading)
      } else if name.hasPrefix("--port-") {
        ports[try Self.product(name)] = try Self.port(&reading)
      } else {
        throw ServerError("\"\(argument)\" is no option of serve. `vesta serve --help` lists them.")
      }
      guard reading.inline == nil else { throw ServerError("\(name) takes no value.") }
      rest = reading.rest
    }
  }

  /// The directory of the data; `nil` for memory, or where a PostgreSQL is named without a directory.
  func settledData() throws(ServerError) -> String? {
    // As in the suite: data of an earlier run would be mixed with the older data of the export.
    let data = importPath != nil && !namesData && settings.postgres == nil ? nil : data
    guard data != nil || settings.postgres == nil else {
      throw ServerError("--memory keeps nothing, and --store everything: leave one of them out.")
    }
    return data
  }

  func certificate() throws(ServerError) -> ServerSettings.Certificate? {
    switch tls {
    case (let chain?, let key?): return ServerSettings.Certificate(chain: chain, key: key)
    case (nil, nil): return nil
    default: throw ServerError("--tls-certificate and --tls-key belong together: name both files.")
    }
  }

  // MARK: Values

  static func hosts(_ host: String) -> [String] { host == "localhost" ? ServerSettings.loopback : [host] }

  private static func store(_ reading: inout Reading) throws(ServerError) -> String {
    let url = try reading.value()
    guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
      throw ServerError("--store is the address of a PostgreSQL: postgres://user@host/database.")
    }
    return url
  }

  private static func function(_ reading: inout Reading) throws(ServerError) -> (name: String, url: String) {
    let parts = try reading.value().split(separator: "=", maxSplits: 1)
    guard parts.count == 2 else {
      throw ServerError("\(reading.name) is written NAME=URL, as in greet=http://127.0.0.1:9001/greet.")
    }
    return (String(parts[0]), String(parts[1]))
  }

  private static func enforcement(_ reading: inout Reading) throws(ServerError) -> Set<String> {
    let products = Set(try reading.list())
    if let unknown = products.subtracting(AppCheckEnforcement.known).sorted().first {
      let known = AppCheckEnforcement.known.sorted().joined(separator: ", ")
      throw ServerError("\(reading.name) names \(unknown), which has no App Check. Known: \(known).")
    }
    return products
  }

  private static func pushContact(_ reading: inout Reading) throws(ServerError) -> String {
    let text = try reading.value()
    guard MessagingPushOptions.isSubject(text) else {
      throw ServerError("\(reading.name) is written mailto:push@your.domain, or is a URL of https.")
    }
    return text
  }

  private static func domain(_ reading: inout Reading) throws(ServerError) -> String {
    let text = try reading.value().lowercased()
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    guard
      labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } })
    else { throw ServerError("\(reading.name) is a domain alone, such as example.com, without a scheme and a port.") }
    return text
  }

  /// The product of an option such as `--port-auth`.
  private static func product(_ name: String) throws(ServerError) -> String {
    let product = String(name.dropFirst("--port-".count))
    guard ServerSettings.usualPorts[product] != nil else {
      let known = ServerSettings.usualPorts.keys.sorted().joined(separator: ", ")
      throw ServerError("There is no port \"\(product)\". Known: \(known).")
    }
    return product
  }

  private static func port(_ reading: inout Reading) throws(ServerError) -> Int {
    guard let port = Int(try reading.value()), (0...65_535).contains(port) else {
      throw ServerError("\(reading.name) is no port: give a number from 0 to 65535.")
    }
    return port
  }
}
