/// The response of a streaming function: messages, and the result at the end.
public enum StreamResponse<Message: Decodable & Sendable, Result: Decodable & Sendable>: Decodable, Sendable,
  StreamResponseProtocol
{
  /// A message on the way.
  case message(Message)
  /// The result, which is last.
  case result(Result)

  private enum CodingKeys: String, CodingKey { case message, result }

  /// Decodes an object with one of the keys `message` and `result`.
  ///
  /// - Throws: `FunctionsError` with `dataLoss` for another object.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard container.allKeys.count == 1, let key = container.allKeys.first else {
      throw FunctionsError(.dataLoss, "Response is missing result or message field.")
    }
    switch key {
    case .message: self = .message(try container.decode(Message.self, forKey: .message))
    case .result: self = .result(try container.decode(Result.self, forKey: .result))
    }
  }
}

/// Distinguishes a ``StreamResponse`` from other responses.
public protocol StreamResponseProtocol {}
