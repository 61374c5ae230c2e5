import CVestaFirebaseRemoteStart
import VestaAppCheckRemote
import VestaAuthRemote
import VestaCore
import VestaDatabaseRemote
import VestaFirestoreRemote
import VestaFunctionsRemote
import VestaInstallationsRemote
import VestaMessagingRemote
import VestaRemoteConfigRemote
import VestaStorageRemote
import VestaTransport

/// Registers what this module brings; called when the program is loaded.
///
/// It is a separate module, which no other one imports: a program that stays with the engines in its process carries
/// neither the remote backends nor a transport.
@_cdecl("vesta_firebase_remote_start")
public func vestaStartRemote() {
  let libraries: [any Library.Type] = [
    AppCheckRemoteLibrary.self, AuthRemoteLibrary.self, FirestoreRemoteLibrary.self, FunctionsRemoteLibrary.self,
    InstallationsRemoteLibrary.self, MessagingRemoteLibrary.self, RemoteConfigRemoteLibrary.self,
    DatabaseRemoteLibrary.self, StorageRemoteLibrary.self, TransportLibrary.self,
  ]
  for library in libraries { VestaApp.register(library) }
}
