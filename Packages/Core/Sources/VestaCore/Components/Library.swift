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

  /// The components to register, made again at each call.
  ///
  /// Called once for every app that is configured. Nothing is to be created here: a component's creation block does
  /// that, when it is first needed.
  static func components() -> [Component]
}

extension Library {
  /// The version of Vesta: that of every package of this repository.
  public static var version: String { VestaVersion() }
}
