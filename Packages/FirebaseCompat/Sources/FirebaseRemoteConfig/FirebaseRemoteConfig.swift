import CVestaFirebaseRemoteConfigStart
import VestaCore
import VestaRemoteConfigService
@_exported import VestaRemoteConfig
@_exported import FirebaseCore

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_remoteconfig_start")
public func vestaStartRemoteConfig() {
  VestaApp.register(RemoteConfigLibrary.self)
  VestaApp.register(RemoteConfigServiceLibrary.self)
}
