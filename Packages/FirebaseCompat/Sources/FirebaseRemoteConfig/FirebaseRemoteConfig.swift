import CVestaFirebaseRemoteConfigStart
@_exported import FirebaseCore
import VestaCore
@_exported import VestaRemoteConfig
import VestaRemoteConfigService

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_remoteconfig_start")
public func vestaStartRemoteConfig() {
  VestaApp.register(RemoteConfigLibrary.self)
  VestaApp.register(RemoteConfigServiceLibrary.self)
}
