import Foundation
import VestaBytes
import VestaFunctionsEndpoints
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
  ///   - directory: The directory of `firebase.json` and `.firebaserc`, in which `.vesta` keeps the data, or one below
  ///     it.
  ///   - keepsData: Whether data is kept where no option says so.
  /// - Throws: ``ServerError``.
  public init(_ arguments: [String], in directory: String, keepsData: Bool = true) throws(ServerError) {
    let folder = ProjectFolder(of: directory)
    var flags = ServeFlags(data: keepsData ? "\(folder.path)/.vesta" : nil)
    try flags.read(arguments)
    (asksForHelp, logsJSON) = (flags.asksForHelp, flags.logsJSON)
    (importPath, exportPath) = (flags.importPath, flags.exportPath)
    settings = flags.settings
    if flags.exportsOnExit, exportPath == nil {
      guard let importPath else { throw ServerError("--export-on-exit needs a directory, or that of --import.") }
      exportPath = importPath
    }
    settings.data = try flags.settledData()
    settings.certificate = try flags.certificate()
    let configuration = try Self.configuration(flags.config, folder)
    settings.project = try Self.project(flags.project, in: directory)
    settings.hosts = flags.hosts ?? ServerSettings.loopback
    if flags.hosts == nil { settings.namedHosts = (configuration?.hosts ?? [:]).mapValues(ServeFlags.hosts) }
    settings.isSingleProject = configuration?.isSingleProject ?? true
    settings.ports = (configuration?.ports ?? [:]).merging(flags.ports) { $1 }
    try useFunctions(flags, configuration)
    try useRules(configuration, in: folder, named: flags.config)
  }

  private mutating func useFunctions(_ flags: ServeFlags, _ configuration: FirebaseFile?) throws(ServerError) {
    settings.functions = (configuration?.functions ?? [:]).merging(flags.functions) { $1 }
    settings.functionsEmulator = flags.emulator ?? configuration?.functionsEmulator
    if let address = settings.functionsEmulator {
      guard Composition.url(ofEmulator: address) != nil else {
        throw ServerError("\"\(address)\" is no address of a functions emulator. Write it like 127.0.0.1:5002.")
      }
      if settings.functions["*"] == nil {
        settings.functions["*"] = address.contains("://") ? address : "http://\(address)"
      }
    }
    do { _ = try FunctionPlaces(settings.functions) } catch { throw ServerError(error.message) }
  }

  /// Rules and indexes; their paths are relative to the configuration.
  private mutating func useRules(
    _ configuration: FirebaseFile?, in folder: ProjectFolder, named config: String?
  ) throws(ServerError) {
    let base =
      config.map { URL(filePath: $0).deletingLastPathComponent() }
      ?? URL(filePath: folder.path, directoryHint: .isDirectory)
    func absolute(_ path: String) -> String {
      URL(filePath: path, relativeTo: base).absoluteURL.standardizedFileURL.path(percentEncoded: false)
    }
    settings.rules = (configuration?.rules ?? [:]).mapValues(absolute)
    settings.indexes = (configuration?.indexes ?? [:]).mapValues(absolute)
    let project = settings.project
    let targets = try folder.firebaserc().map { FirebaseFile.targets(json: $0, project: project) }
    settings.namedRules =
      try configuration?.namedRules(targets: targets ?? [:])
      .mapValues { $0.mapValues(absolute) } ?? [:]
  }

  /// What `vesta serve --help` prints.
  public static let help = """
    vesta serve: Firebase's services on this machine.

      --project P        the project of requests that name none (default: that of .firebaserc, or demo-no-project)
      --data DIR         where data is kept (default: .vesta next to firebase.json)
      --memory           keep nothing
      --host HOST        listen at this address (default: this machine alone, 127.0.0.1 and ::1)
      --port N           the port of all products together (default 7700; 0 lets the system choose)
      --port-NAME N      the port of one: auth (9099), database (9000), firestore (8080), functions (5001),
                         storage (9199), hub (4400)
      --function F=URL   requests for the function F go to this address; * for every function that has none
      --functions-emulator HOST:PORT  a functions emulator runs there: it gets calls as with --function *, and events
      --config FILE      a firebase.json with ports and rules (default: that of this directory, or of the next above it)
      --only A,B         serve these products alone, such as auth,firestore
      --store URL        keep data in PostgreSQL: postgres://user@host/database (files stay in the data directory)
      --import DIR       import an export of the Firebase CLI's suite, or of vesta, at the start; data is then kept
                         with --data alone, where documents of the export replace those that are there
      --export-on-exit [DIR]  export everything at the end (default: the directory of --import)
      --enforce-app-check A,B  these products refuse calls without a valid App Check token
      --tls-certificate FILE, --tls-key FILE  encrypt all ports by this certificate with its chain, in PEM; changed files are read
                         again
      --push-contact URL  whom the push services of browsers may write to: mailto:push@your.domain, or a page of https
      --passkey-domain DOMAIN  the pages and apps of this domain can use passkeys (default: localhost); those that users have
                         are of no use to another domain
      --verbose          a line for each request
      --log-format F     text or json
      --production       refuse unsigned tokens, the word "owner", and the calls of local test suites
    """

  private static func configuration(
    _ named: String?, _ folder: ProjectFolder
  ) throws(ServerError) -> FirebaseFile? {
    let path = named ?? "\(folder.path)/\(ProjectFolder.configuration)"
    guard let bytes = FileManager.default.contents(atPath: path) else {
      if let named { throw ServerError("\(named) cannot be read. Name a firebase.json with --config.") }
      return nil
    }
    return try FirebaseFile(json: Array(bytes))
  }

  /// The project that a command is for: the one that is named, by its id or by its name in `.firebaserc`, and otherwise
  /// the default or only one of that file.
  static func project(_ named: String?, in directory: String) throws(ServerError) -> String {
    let names = try ProjectFolder(of: directory).firebaserc()
    let found = names.flatMap { FirebaseFile.project(named: named, json: $0) }
    return found ?? named ?? ServerSettings.noProject
  }
}
