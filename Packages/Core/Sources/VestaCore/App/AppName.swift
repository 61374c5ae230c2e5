/// Names of apps with a meaning.
enum AppName {
  /// The name of the default app, as Firebase's SDK has it.
  static let defaultApp = "__FIRAPP_DEFAULT"
}
