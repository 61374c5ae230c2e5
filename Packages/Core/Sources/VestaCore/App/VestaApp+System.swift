extension VestaApp {
  /// The name of the system that the program runs on, such as `linux` or `ios`.
  ///
  /// It is what user-agent strings, conditions of Remote Config and registrations of Messaging call it.
  public static var systemName: String { platformName }
}
