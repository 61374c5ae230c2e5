import CVestaFirebaseMessagingStart
import VestaCore
import VestaMessagingService
@_exported import VestaMessaging
@_exported import FirebaseCore

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_messaging_start")
public func vestaStartMessaging() {
  VestaApp.register(MessagingLibrary.self)
  VestaApp.register(MessagingServiceLibrary.self)
}
