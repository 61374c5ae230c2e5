public import Foundation
import VestaConcurrency
import VestaCore
public import VestaDataCoding

/// The callable functions of an app.
///
/// ```swift
/// let functions = Functions.functions()
/// let result = try await functions.httpsCallable("addMessage").call(["text": "hello"])
///
/// let add: Callable<[Int], Int> = functions.httpsCallable("add")
/// let sum = try await add([1, 2])
/// ```
///
/// All members may be called from any thread. There is one `Functions` for each app, region and custom domain.
public final class Functions: Sendable {
  let app: VestaApp
  let region: String
  let customDomain: String?
  let caller: FunctionsCaller
  private let projectID: String
  private let emulator = Locked<String?>(nil)

  init(app: VestaApp, region: String, customDomain: String?, caller: FunctionsCaller) {
    self.app = app
    self.region = region
    self.customDomain = customDomain
    self.caller = caller
    projectID = app.options.projectID ?? ""
  }

  /// The origin of the emulator that ``useEmulator(withHost:port:)`` has set.
  public var emulatorOrigin: String? { emulator.withLock { $0 } }

  /// Sets the origin of the URLs of functions, from the next call on.
  ///
  /// The calls go to the backend of the app's options all the same.
  ///
  /// - Parameters:
  ///   - host: The host, with or without a scheme.
  ///   - port: The port.
  public func useEmulator(withHost host: String, port: Int) {
    emulator.withLock { $0 = FunctionLocation.emulatorOrigin(host: host, port: port) }
  }

  // MARK: Callables

  /// A function by name.
  ///
  /// - Parameter name: The name of the function.
  public func httpsCallable(_ name: String) -> HTTPSCallable {
    HTTPSCallable(self, .name(name), HTTPSCallableOptions.standard)
  }

  /// A function by name.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - options: How it is called.
  public func httpsCallable(_ name: String, options: HTTPSCallableOptions) -> HTTPSCallable {
    HTTPSCallable(self, .name(name), options)
  }

  /// A function by its URL.
  ///
  /// - Parameter url: The URL; the emulator and the region do not count.
  public func httpsCallable(_ url: URL) -> HTTPSCallable {
    HTTPSCallable(self, .url(url.absoluteString), HTTPSCallableOptions.standard)
  }

  /// A function by its URL.
  ///
  /// - Parameters:
  ///   - url: The URL; the emulator and the region do not count.
  ///   - options: How it is called.
  public func httpsCallable(_ url: URL, options: HTTPSCallableOptions) -> HTTPSCallable {
    HTTPSCallable(self, .url(url.absoluteString), options)
  }

  // MARK: Typed callables

  /// A function by name, with types for its argument and its result.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - requestAs: The type of the argument.
  ///   - responseAs: The type of the result.
  ///   - encoder: Encodes the argument; not to be changed afterwards.
  ///   - decoder: Decodes the result; not to be changed afterwards.
  public func httpsCallable<Request: Encodable, Response: Decodable>(
    _ name: String, requestAs: Request.Type = Request.self, responseAs: Response.Type = Response.self,
    encoder: FirebaseDataEncoder = FirebaseDataEncoder(), decoder: FirebaseDataDecoder = FirebaseDataDecoder()
  ) -> Callable<Request, Response> {
    Callable(httpsCallable(name), encoder, decoder)
  }

  /// A function by name, with types for its argument and its result.
  ///
  /// - Parameters:
  ///   - name: The name of the function.
  ///   - options: How it is called.
  ///   - requestAs: The type of the argument.
  ///   - responseAs: The type of the result.
  ///   - encoder: Encodes the argument; not to be changed afterwards.
  ///   - decoder: Decodes the result; not to be changed afterwards.
  public func httpsCallable<Request: Encodable, Response: Decodable>(
    _ name: String, options: HTTPSCallableOptions, requestAs: Request.Type = Request.self,
    responseAs: Response.Type = Response.self, encoder: FirebaseDataEncoder = FirebaseDataEncoder(),
    decoder: FirebaseDataDecoder = FirebaseDataDecoder()
  ) -> Callable<Request, Response> {
    Callable(httpsCallable(name, options: options), encoder, decoder)
  }

  /// A function by its URL, with types for its argument and its result.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - requestAs: The type of the argument.
  ///   - responseAs: The type of the result.
  ///   - encoder: Encodes the argument; not to be changed afterwards.
  ///   - decoder: Decodes the result; not to be changed afterwards.
  public func httpsCallable<Request: Encodable, Response: Decodable>(
    _ url: URL, requestAs: Request.Type = Request.self, responseAs: Response.Type = Response.self,
    encoder: FirebaseDataEncoder = FirebaseDataEncoder(), decoder: FirebaseDataDecoder = FirebaseDataDecoder()
  ) -> Callable<Request, Response> {
    Callable(httpsCallable(url), encoder, decoder)
  }

  /// A function by its URL, with types for its argument and its result.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - options: How it is called.
  ///   - requestAs: The type of the argument.
  ///   - responseAs: The type of the result.
  ///   - encoder: Encodes the argument; not to be changed afterwards.
  ///   - decoder: Decodes the result; not to be changed afterwards.
  public func httpsCallable<Request: Encodable, Response: Decodable>(
    _ url: URL, options: HTTPSCallableOptions, requestAs: Request.Type = Request.self,
    responseAs: Response.Type = Response.self, encoder: FirebaseDataEncoder = FirebaseDataEncoder(),
    decoder: FirebaseDataDecoder = FirebaseDataDecoder()
  ) -> Callable<Request, Response> {
    Callable(httpsCallable(url, options: options), encoder, decoder)
  }

  /// The current location of a function.
  func location(of name: HTTPSCallable.Name) -> FunctionLocation {
    switch name {
    case .url(let url): return FunctionLocation(url: url)
    case .name(let name):
      let origin = FunctionLocation.Origin(
        projectID: projectID, region: region, customDomain: customDomain, emulatorOrigin: emulatorOrigin)
      return FunctionLocation(name: name, origin)
    }
  }
}
