public import Foundation
import VestaBytes
import VestaDataCoding
import VestaFunctionsBackend
import VestaFunctionsValues

/// A function with types for its argument and its result.
///
/// ```swift
/// let add: Callable<[Int], Int> = functions.httpsCallable("add")
/// let sum = try await add([1, 2])
/// ```
public struct Callable<Request: Encodable, Response: Decodable>: Sendable {
  private let callable: HTTPSCallable
  private let coders: SharedCoders

  private var responses: ResponseReader { ResponseReader(coders: coders) }

  init(_ callable: HTTPSCallable, _ encoder: FirebaseDataEncoder, _ decoder: FirebaseDataDecoder) {
    self.callable = callable
    coders = SharedCoders(encoder: encoder, decoder: decoder)
  }

  /// The time limit of a call in seconds; 70 unless it was set.
  public var timeoutInterval: TimeInterval {
    get { callable.timeoutInterval }
    set { callable.timeoutInterval = newValue }
  }

  /// Calls the function.
  ///
  /// Cancelling the task cancels the call and the task of the function.
  ///
  /// - Parameter data: The argument.
  /// - Returns: The result.
  /// - Throws: `FunctionsError`, or what encoding and decoding throw.
  public func call(_ data: Request) async throws -> Response {
    let wire = try encoded(data)
    return try responses.decoded(Response.self, try await callable.call(wire: wire))
  }

  /// Calls the function; see ``call(_:)``.
  ///
  /// - Parameter data: The argument.
  /// - Returns: The result.
  /// - Throws: `FunctionsError`, or what encoding and decoding throw.
  public func callAsFunction(_ data: Request) async throws -> Response {
    try responses.decoded(Response.self, try await callable.call(wire: try encoded(data)))
  }

  func encoded(_ data: Request) throws -> JSONValue {
    do {
      return try coders.encoded(data)
    } catch let error as CallableValue.Failure {
      throw FunctionsError(.invalidArgument, error.description)
    }
  }

  /// Calls the function and reads what it sends on the way.
  ///
  /// With ``StreamResponse`` as the response the stream has the messages and then the result; with any other type it
  /// has the messages, and the result is left out. The function waits while messages are unread. Cancelling the reading
  /// task, leaving the loop or dropping the stream cancels the call.
  ///
  /// ```swift
  /// let generate: Callable<String, StreamResponse<String, Int>> = functions.httpsCallable("generate")
  /// for try await response in try generate.stream("a poem") {
  ///   switch response {
  ///   case .message(let word): print(word)
  ///   case .result(let count): print(count, "words")
  ///   }
  /// }
  /// ```
  ///
  /// - Parameter data: The argument.
  /// - Returns: The stream; it throws `FunctionsError`.
  /// - Throws: `FunctionsError` with `invalidArgument` when the argument cannot be encoded.
  public func stream(_ data: Request? = nil) throws -> AsyncThrowingStream<Response, any Error>
  where Response: Sendable {
    let wire: JSONValue
    do {
      wire = try data.map { try coders.encoded($0) } ?? .null
    } catch {
      throw FunctionsError(.invalidArgument, "The argument cannot be encoded: \(error)", underlying: error)
    }
    let call = StreamingCall(callable, wire)
    return AsyncThrowingStream { [responses] in
      while let event = try await call.next() {
        if let response = try responses.response(event, as: Response.self) { return response }
      }
      return nil
    }
  }
}

/// Reads what functions return.
private struct ResponseReader: Sendable {
  let coders: SharedCoders

  func decoded<Value: Decodable>(_ type: Value.Type, _ wire: JSONValue) throws -> Value {
    do {
      return try coders.decoder.decode(type, from: try CallableValue.decode(wire, numbers: .swift))
    } catch let error as CallableValue.Failure {
      throw FunctionsError(.internal, "The function returned a value that cannot be read: \(error)")
    }
  }

  /// The element of a stream for an event; `nil` for a result that its type leaves out.
  ///
  /// - Throws: `FunctionsError` with `dataLoss` for a value of another type, with the decoder's error beneath.
  func response<Response: Decodable>(_ event: FunctionEvent, as type: Response.Type) throws -> Response? {
    do {
      return try element(event, as: type)
    } catch let error as DecodingError {
      throw FunctionsError(.dataLoss, "The function sent a value of another type: \(error)", underlying: error)
    }
  }

  private func element<Response: Decodable>(_ event: FunctionEvent, as type: Response.Type) throws -> Response? {
    guard Response.self is any StreamResponseProtocol.Type else {
      guard case .message(let value) = event else { return nil }
      return try decoded(Response.self, value)
    }
    switch event {
    case .message(let value): return try decoded(Response.self, .object(["message": value]))
    case .result(let value): return try decoded(Response.self, .object(["result": value]))
    }
  }
}
