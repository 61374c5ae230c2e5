import VestaAuthBackend
import VestaCore
import VestaServiceInterop

extension Auth {
  /// The emulator that the program has named.
  struct Emulator: Sendable {
    var host: String
    var port: Int
    /// Its backend, made at the first call; `nil` where the app's backend is that emulator anyway.
    var caller: AuthCaller?
  }

  /// Connects the app to an emulator.
  ///
  /// Calls go there from now on, whatever the backend of the app's options is. That takes a library which reaches
  /// emulators, `AuthRemoteLibrary`, in the app's list; an app with the embedded backend has no such library. Without
  /// one, and unless the app's backend is that emulator, every later call fails with a sentence that says so.
  ///
  /// - Parameters:
  ///   - host: Where the emulator is.
  ///   - port: Its port.
  public func useEmulator(withHost host: String, port: Int) {
    AuthActor.sync { configuration.emulator = Emulator(host: host, port: port) }
  }

  /// The way to the backend of the app, or to the emulator.
  @AuthActor
  var caller: AuthCaller { configuration.emulator?.caller ?? backend }

  /// Connects to the emulator that was named, where that has not happened yet.
  @AuthActor
  func checkEmulator() throws {
    guard let emulator = configuration.emulator, emulator.caller == nil else { return }
    let origin = EmulatorOrigin(host: emulator.host, port: emulator.port)
    if appBackend.kind == .emulators, (try? appBackend.origin(of: "auth", firebase: "")) == origin.text { return }
    guard let emulators else {
      throw AuthError(
        .internalError,
        """
        useEmulator names \(origin), but the app is configured with the backend \(appBackend). \
        Configure the app with VestaOptions.backend = .emulator(host:port:) and AuthRemoteLibrary (with FirebaseCompat: \
        link FirebaseRemote and set VESTA_BACKEND=emulator:HOST:PORT), or leave useEmulator out.
        """
      )
    }
    do {
      let backend = try emulators.backend(at: origin)
      configuration.emulator?.caller = AuthCaller(backend: backend, appCheck: self.backend.appCheck)
    } catch {
      throw AuthError(.internalError, "The emulator \(origin) cannot be used. \(error)")
    }
  }
}
