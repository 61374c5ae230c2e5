public import Foundation
import VestaConcurrency
import VestaCore
public import VestaDataCoding
import VestaServiceInterop

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
  private let appCaller: FunctionsCaller
  private let projectID: String
  private let emulator = Locked<Emulator?>(nil)

  /// The emulator that the program has named.
  private struct Emulator: Sendable {
    let origin: String
    /// The way to it; that of the app where no library reaches emulators.
    let caller: FunctionsCaller
  }

  init(app: VestaApp, region: String, customDomain: String?, caller: FunctionsCaller) {
    self.app = app
    self.region = region
    self.customDomain = customDomain
    appCaller = caller
    projectID = app.options.resourceProjectID
  }

  /// The origin of the emulator that ``useEmulator(withHost:port:)`` has set.
  public var emulatorOrigin: String? { emulator.withLock { $0?.origin } }

  /// Connects to an emulator, from the next call on, whatever the backend of the app's options is.
  ///
  /// That takes `FunctionsRemoteLibrary` in the app's list. An app with the embedded backend has no such library: its
  /// functions run in the process all the same, as the log says, and their URLs alone have the emulator's origin. The
  /// process stops for a host that makes no address.
  ///
  /// - Parameters:
  ///   - host: The host, with or without a scheme; an IPv6 address in brackets or without.
  ///   - port: The port.
  public func useEmulator(withHost host: String, port: Int) {
    let origin = EmulatorOrigin(host: host, port: port)
    var caller = appCaller
    do {
      if let backend = try caller.emulators?.backend(at: origin) {
        caller.backend = backend
      } else {
        warnOfOtherBackend(insteadOf: origin)
      }
    } catch {
      VestaApp.stop("The emulator at \(origin) cannot be used. \(error)")
    }
    let emulator = Emulator(origin: origin.text, caller: caller)
    self.emulator.withLock { $0 = emulator }
  }

  private func warnOfOtherBackend(insteadOf origin: EmulatorOrigin) {
    Logger(service: "VestaFunctions").warning(
      "I-FUN000002",
      """
      useEmulator names \(origin), but the backend of the app is "\(app.options.backend)", and functions are called \
      there. Configure the app with VestaOptions.backend = .emulator(host:port:) and FunctionsRemoteLibrary \
      (with FirebaseCompat: link FirebaseRemote and set VESTA_BACKEND=emulator:HOST:PORT), or leave useEmulator out.
      """)
  }

  /// The way to the functions of the app, or of the emulator.
  var caller: FunctionsCaller { emulator.withLock { $0?.caller } ?? appCaller }

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
