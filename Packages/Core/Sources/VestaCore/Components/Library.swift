/// The registration of a package with Core: its name, its version and the components it brings.
///
/// A program names the libraries it uses in one place:
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [AuthLibrary.self, SQLiteLibrary.self])
/// ```
public protocol Library: SendableMetatype {
  /// The name in user-agent strings and error messages, such as "vesta-auth".
  static var name: String { get }

  /// The semantic version of the package, such as "1.2.0".
  static var version: String { get }

  /// The kinds of backend for which the library is used; all unless it says otherwise.
  ///
  /// An engine and a remote backend provide the same protocol. Both may be in the list of one program: the library that
  /// is not for the app's `VestaOptions.backend` counts as absent, and `configure` names it where nothing takes its
  /// place.
  static var backends: Set<VestaOptions.Backend.Kind> { get }

  /// The components to register, made again at each call.
  ///
  /// Called once for every app that is configured. Nothing is to be created here: a component's creation block does
  /// that, when it is first needed.
  static func components() -> [Component]
}

extension Library {
  /// The version of Vesta: that of every package of this repository.
  public static var version: String { VestaVersion() }

  /// All backends.
  public static var backends: Set<VestaOptions.Backend.Kind> { .all }
}

extension Set where Element == VestaOptions.Backend.Kind {
  /// All backends.
  static let all = Self(VestaOptions.Backend.Kind.allCases)

  /// The backend of engines in this process.
  public static let embedded: Self = [.embedded]

  /// The backends on other machines, or in other processes.
  public static let remote: Self = [.server, .emulators, .firebase]
}
