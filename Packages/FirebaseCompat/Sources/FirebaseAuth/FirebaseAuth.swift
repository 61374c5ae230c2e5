import CVestaFirebaseAuthStart
import VestaAuthService
import VestaCore
@_exported import VestaAuth
@_exported import FirebaseCore

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_auth_start")
public func vestaStartAuth() {
  VestaApp.register(AuthLibrary.self)
  VestaApp.register(AuthServiceLibrary.self)
}
