import VestaCore

/// What the program has got wrong, for its log.
enum Logs {
  static func misuse(_ text: String) { log.error("I-RDB000013", text) }
}

private let log = Logger(service: "VestaDatabase")
