public import Dispatch
import VestaBytes
import VestaConcurrency

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The configuration of an app: which project it belongs to, and where its data lives.
///
/// A program that wants no project at all needs none of this: `VestaOptions()` is an embedded app. An app takes a copy
/// when it is configured; changes made after that change nothing for it.
///
/// ```swift
/// let options = VestaOptions(projectID: "my-shop", backend: .embedded(directory: URL(filePath: "/var/lib/my-shop")))
/// try VestaApp.configure(options: options, libraries: [AuthLibrary.self, SQLiteLibrary.self])
/// ```
public final class VestaOptions: Sendable, Hashable, CustomStringConvertible {
  private let values: Locked<Values>

  struct Values: Hashable {
    var googleAppID = "1:0:vesta:0"
    var gcmSenderID = "0"
    var projectID: String? = VestaOptions.programProject
    var apiKey: String?
    var bundleID = Values.programName
    var clientID: String?
    var databaseURL: String?
    var storageBucket: String?
    var appGroupID: String?
    var backend = Backend.embedded()
    var callbackQueue: QueueReference?

    static let programName = CommandLine.arguments.first?.parts(at: "/").last.map(String.init) ?? "vesta"
  }

  /// A queue, equal to itself alone.
  struct QueueReference: Hashable {
    let queue: DispatchQueue

    static func == (left: Self, right: Self) -> Bool { left.queue === right.queue }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(queue)) }
  }

  /// The project of a program that names none: "demo-" and the program's name, so that unrelated programs share
  /// nothing.
  static let programProject: String = {
    let name = Values.programName.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
    return "demo-" + String(name)
  }()

  init(values: Values) { self.values = Locked(values) }

  /// Options for an embedded app without a project.
  ///
  /// It gets one of the program's name, such as "demo-notes" for a
  /// program `notes`; Firebase's own tools treat a project id that begins with "demo-" as one that never leaves the
  /// machine.
  public convenience init() { self.init(values: Values()) }

  /// Options for a project.
  ///
  /// - Parameters:
  ///   - projectID: The id of the project; it ends up in tokens and resource names.
  ///   - backend: Where the data lives.
  public convenience init(projectID: String, backend: Backend = .embedded()) {
    var values = Values()
    (values.projectID, values.backend) = (projectID, backend)
    self.init(values: values)
  }

  /// Options for a registered Firebase app; the rest is set through the properties.
  ///
  /// - Parameters:
  ///   - googleAppID: The id of the app, such as "1:1234567890:ios:321abc456def7890".
  ///   - gcmSenderID: The number of the project.
  public convenience init(googleAppID: String, gcmSenderID: String) {
    var values = Values()
    (values.googleAppID, values.gcmSenderID, values.projectID) = (googleAppID, gcmSenderID, nil)
    self.init(values: values)
  }

  /// The options that a bare `VestaApp.configure()` uses.
  ///
  /// They are read from a `GoogleService-Info.plist` or a `google-services.json` in the resources of the program, in
  /// the working directory or next to the program, the first that exists (the log names it); environment variables
  /// take precedence, see `fromEnvironment(_:)`.
  ///
  /// - Returns: The options; `nil` when the file or a value of the environment cannot be used (the log says why).
  public static func defaultOptions() -> VestaOptions? {
    do {
      return try found()
    } catch {
      Logger(service: "VestaCore").error("I-COR000015", "The default options could not be read. \(error)")
      return nil
    }
  }

  /// A copy that can be changed by itself.
  public func copy() -> VestaOptions { VestaOptions(values: values.withLock { $0 }) }

  /// The key that identifies the project of a request to a Firebase server.
  public var apiKey: String? {
    get { values.withLock { $0.apiKey } }
    set { values.withLock { $0.apiKey = newValue } }
  }

  /// The identifier of the program; the program's name unless it was set.
  public var bundleID: String {
    get { values.withLock { $0.bundleID } }
    set { values.withLock { $0.bundleID = newValue } }
  }

  /// The OAuth 2 client for Google sign-in.
  public var clientID: String? {
    get { values.withLock { $0.clientID } }
    set { values.withLock { $0.clientID = newValue } }
  }

  /// The number of the project.
  public var gcmSenderID: String {
    get { values.withLock { $0.gcmSenderID } }
    set { values.withLock { $0.gcmSenderID = newValue } }
  }

  /// The id of the project; it ends up in tokens and resource names.
  public var projectID: String? {
    get { values.withLock { $0.projectID } }
    set { values.withLock { $0.projectID = newValue } }
  }

  /// The id of the project as resource names, addresses and tokens contain it: ``projectID``, or `no-project` for
  /// options that name none.
  public var resourceProjectID: String { projectID ?? "no-project" }

  /// The id of the app.
  public var googleAppID: String {
    get { values.withLock { $0.googleAppID } }
    set { values.withLock { $0.googleAppID = newValue } }
  }

  /// Where the Realtime Database is reached.
  public var databaseURL: String? {
    get { values.withLock { $0.databaseURL } }
    set { values.withLock { $0.databaseURL = newValue } }
  }

  /// The default bucket of Storage.
  public var storageBucket: String? {
    get { values.withLock { $0.storageBucket } }
    set { values.withLock { $0.storageBucket = newValue } }
  }

  /// The app group that an app and its extensions share on Apple's platforms; nothing here reads it.
  public var appGroupID: String? {
    get { values.withLock { $0.appGroupID } }
    set { values.withLock { $0.appGroupID = newValue } }
  }

  /// Where the data lives; embedded unless it was set.
  public var backend: Backend {
    get { values.withLock { $0.backend } }
    set { values.withLock { $0.backend = newValue } }
  }

  /// The queue on which completion handlers and listeners are called; `nil` for the main queue.
  public var callbackQueue: DispatchQueue? {
    get { values.withLock { $0.callbackQueue?.queue } }
    set { values.withLock { $0.callbackQueue = newValue.map(QueueReference.init) } }
  }

  /// Whether two objects hold the same options.
  public static func == (left: VestaOptions, right: VestaOptions) -> Bool {
    left === right || left.values.withLock { $0 } == right.values.withLock { $0 }
  }

  /// Feeds the options to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(values.withLock { $0 }) }

  /// The project, the app and the backend; no key.
  public var description: String {
    let values = values.withLock { $0 }
    return
      "VestaOptions(project: \(values.projectID ?? "none"), app: \(values.googleAppID), backend: \(values.backend))"
  }
}
