import VestaAppCheckWire
import VestaFunctionsWire
import VestaInstallationsWire
import VestaMessagingWire
import VestaRemoteConfigWire
import VestaTesting

/// The bodies and routes of Remote Config.
enum RemoteConfigSamples {
  static func all() -> [HostileInputs.Decoder] {
    [
      bodies(
        "{app_instance_id:'fid', app_id:'1:2:ios:3', custom_signals:{\"n\":3}, x:'\\'y'}",
        #"{"app_id":"a","first_open_time":"2024-01-01T00:00:00.000Z","analytics_user_properties":{"k":"v"}}"#,
        read: { _ = try FetchWire.call(body: $0, namespace: "firebase", etag: nil) }),
      bodies(
        #"{"state":"UPDATE","entries":{"a":"1"},"templateVersion":"7","rolloutMetadata":[{"rolloutId":"r","variantId":"v"}]}"#,
        read: { _ = try FetchWire.response(body: $0, etag: nil) }),
      bodies(
        #"[{"latestTemplateVersionNumber":"12"},{"featureDisabled":true}"#,
        read: { body in
          var machine = InvalidationMachine()
          _ = try machine.received(body)
        }),
      bodies(
        "{project:'42', namespace:'', lastKnownVersionNumber:'3', appId:'a'}",
        read: { _ = try InvalidationWire.call(body: $0, namespace: "x") }),
      bodies(
        #"{"versions":[{"versionNumber":"3","updateTime":"2026-01-01T00:00:00Z","updateUser":{"email":"a@b"}}],"nextPageToken":"t"}"#,
        read: { _ = try TemplateWire.page($0) }),
      bodies(#"{"version_number":8}"#, read: { _ = try TemplateWire.rollbackVersion($0) }),
      bodies(
        #"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"[VALIDATION_ERROR]: x"}}"#,
        read: { _ = RemoteConfigErrorWire.error(status: 400, body: $0) }),
      texts(
        "/v1/projects/p/remoteConfig?versionNumber=3", "/v1/projects/p/namespaces/firebase-server/serverRemoteConfig",
        "/v1/projects/p/remoteConfig:listVersions?pageSize=5&startTime=2026-01-01T00:00:00Z",
        read: { _ = try RemoteConfigRoute(method: "GET", target: $0) }),
    ]
  }
}

/// The bodies and routes of Messaging.
enum MessagingSamples {
  static func all() -> [HostileInputs.Decoder] {
    [
      bodies(
        #"{"message":{"topic":"news","data":{"a":"é"},"notification":{"title":"t"}},"validateOnly":true}"#,
        #"{"message":{"token":"i:t","android":{"ttl":"3.5s"},"apns":{"payload":{"aps":{"badge":1}}}}}"#,
        read: { _ = try SendWire.request($0) }),
      bodies(#"{"to":"/topics/a","registration_tokens":["x","y"]}"#, read: { _ = try TopicWire.request($0) }),
      bodies(
        #"{"results":[{}]}"#, #"{"results":[{"error":"NOT_FOUND"}]}"#, read: { _ = try TopicWire.results($0, of: 1) }),
      bodies(#"{"name":"projects/p/registrations/i","token":"i:t"}"#, read: { _ = try RegistrationWire.token($0) }),
      bodies(
        #"{"web":{"endpoint":"https://e","auth":"a","p256dh":"p","applicationPubKey":"k"}}"#,
        read: { _ = try RegistrationWire.registration($0, installationID: "i", appID: "a") }),
      bodies(
        #"{"application":"a","platform":"ANDROID","rel":{"topics":{"b":{"addDate":"2026-01-01"}}}}"#,
        read: { _ = try RegistrationWire.info($0, of: "fid:t") }),
      bodies(
        #"{"error":{"code":404,"status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"X"}]}}"#,
        read: { _ = MessagingErrorWire.error(status: 404, body: $0) }),
      texts(
        "/v1/projects/p/registrations/i:t/topicSubscriptions?topic_name=a%25", "/v1/projects/p/messages:send",
        "/iid/v1:batchAdd", "/iid/info/i:t?details=true", read: { _ = try MessagingRoute(method: "POST", target: $0) }),
    ]
  }
}

/// The bodies, events and paths of Functions.
enum FunctionsSamples {
  static func all() -> [HostileInputs.Decoder] {
    [
      bodies(
        #"{"data":{"a":[1,"é",{"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"7"}]}}"#,
        read: { _ = try CallableWire.data(body: $0, contentType: "application/json; charset=utf-8") }),
      bodies(#"{"result":[1.5,null,"x"]}"#, read: { _ = try CallableWire.result(status: 200, body: $0) }),
      bodies(#"{"message":{"a":1}}"#, #"{"result":null}"#, read: { _ = try CallableWire.event(data: $0) }),
      texts("/p/us-central1/a%20b/x?y=1", read: { _ = FunctionRequestPath(target: $0, authority: "localhost:5001") }),
      texts("/p/us-central1/f", read: { _ = CallablePath(target: $0) }),
    ]
  }
}

/// The bodies and routes of Installations.
enum InstallationsSamples {
  static func all() -> [HostileInputs.Decoder] {
    [
      bodies(
        #"{"fid":"f","authVersion":"FIS_v2","appId":"1:2:web:3","sdkVersion":"w:1"}"#,
        read: { _ = try InstallationsWire.creation($0) }),
      bodies(
        #"{"name":"n","fid":"f","refreshToken":"r","authToken":{"token":"t","expiresIn":"604800s"}}"#,
        read: { _ = try InstallationsWire.created($0) }),
      bodies(#"{"token":"t","expiresIn":"604800s"}"#, read: { _ = try InstallationsWire.token($0) }),
      texts(
        "/v1/projects/p/installations/f/authTokens:generate", "/v1/projects/p%20q/installations/",
        read: { _ = try InstallationsRoute(method: "POST", target: $0) }),
      texts("FIS_v2 r", read: { _ = InstallationsWire.refreshToken(authorization: $0) }),
    ]
  }
}

/// The bodies and routes of App Check.
enum AppCheckSamples {
  static func all() -> [HostileInputs.Decoder] {
    [
      bodies(#"{"debug_token":"s"}"#, #"{"debugToken":"s"}"#, read: { _ = try AppCheckWire.proof($0, .debug) }),
      bodies(#"{"custom_token":"e30.e30.x"}"#, read: { _ = try AppCheckWire.proof($0, .custom) }),
      bodies(#"{"token":"t","ttl":"3600s"}"#, read: { _ = try AppCheckWire.token($0) }),
      bodies(#"{"app_check_token":"t"}"#, read: { _ = try AppCheckWire.consumed($0) }),
      bodies(#"{"alreadyConsumed":true}"#, read: { _ = try AppCheckWire.isAlreadyConsumed($0) }),
      bodies(#"{"displayName":"d","token":"s"}"#, read: { _ = try AppCheckWire.secret($0) }),
      texts(
        "/v1/projects/p/apps/1:2:web:3:exchangeDebugToken", "/v1/projects/p/apps/1:2:web:3/debugTokens",
        "/v1beta/projects/p:verifyAppCheckToken", "/v1/projects/p%20q/jwks",
        read: { _ = try AppCheckRoute(method: "POST", target: $0) }),
    ]
  }
}
