import VestaCore

/// Logs wrong use of the API.
enum Logs {
  static func misuse(_ text: String) { log.error("I-RDB000013", text) }
}

private let log = Logger(service: "VestaDatabase")
