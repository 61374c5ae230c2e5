import VestaDatabaseBackend

extension DatabaseRequest {
  var isAuthentication: Bool { token != nil }
  var token: String? { if case .authenticate(let credential) = self { credential.token } else { nil } }
  var isListen: Bool { if case .listen = self { true } else { false } }
  var isGet: Bool { if case .get = self { true } else { false } }

  var isWrite: Bool {
    switch self {
    case .put, .merge: true
    default: false
    }
  }

  var isOnDisconnect: Bool {
    switch self {
    case .onDisconnectPut, .onDisconnectMerge, .onDisconnectCancel: true
    default: false
    }
  }
}
