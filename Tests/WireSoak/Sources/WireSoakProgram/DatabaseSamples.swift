import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaTesting

/// Frames, polls and calls of the Realtime Database.
enum DatabaseSamples {
  static func frames() -> [HostileInputs.Decoder] {
    [
      bodies(
        #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","q":{"sp":1,"i":"k","l":3,"vf":"r"},"t":2,"h":"x"}}}"#,
        #"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/a","d":{".value":1,".priority":{".sv":"timestamp"}},"h":"y"}}}"#,
        #"{"t":"d","d":{"r":3,"a":"m","b":{"p":"/","d":{"a/b":null,"c":[1,true]}}}}"#,
        #"{"t":"d","d":{"r":4,"a":"auth","b":{"cred":"t"}}}"#,
        #"{"t":"d","d":{"r":5,"a":"gauth","b":{"cred":"owner","authvar":{"uid":"é"}}}}"#,
        #"{"t":"d","d":{"r":6,"a":"o","b":{"p":"/a","d":1}}}"#, #"{"t":"c","d":{"t":"p","d":{}}}"#,
        #"{"t":"d","d":{"r":7,"a":"s","b":{"c":{"sdk.js.1":1}}}}"#,
        read: { _ = try DatabaseClientWire.message(json: $0) }),
      bodies(
        #"{"t":"c","d":{"t":"h","d":{"ts":1700000000000,"v":"5","h":"h:9","s":"s"}}}"#,
        #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}"#,
        #"{"t":"d","d":{"a":"d","b":{"p":"a","d":{"x":[1.5,"é"]},"t":5}}}"#,
        #"{"t":"d","d":{"a":"m","b":{"p":"a","d":{"b/c":null}}}}"#, #"{"t":"c","d":{"t":"s","d":"gone"}}"#,
        #"{"t":"d","d":{"a":"rm","b":{"p":"a","d":[{"s":"a","e":"c","m":1}]}}}"#,
        #"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"x"}}}"#,
        read: { _ = try DatabaseServerWire.frame(json: $0) }),
      bodies("2", "{\"a\":1}", "0", "12", read: readPieces),
      texts(
        "id=a&pw=b&ser=3&seg0=0&ts0=1&d0=eyJhIjoxfQ..&seg1=1&ts1=2&d1=ey", "start=t&ser=1&cb=5&v=5&ns=n&ls=x",
        "dframe=t&id=a&pw=b", read: readPoll),
      texts("v=5&ns=n&ls=s&s=m&ac=t&p=1:2:web:3", read: { _ = try DatabaseOpening(query: $0) }),
    ]
  }

  private static func readPieces(_ frame: [UInt8]) throws {
    var machine = DatabasePieceMachine()
    _ = try machine.received(frame)
    _ = try machine.received(frame)
  }

  private static func readPoll(_ query: String) throws {
    guard case .poll(_, _, _, let segments) = try DatabasePoll(query: query) else { return }
    var machine = DatabaseSegmentMachine()
    _ = try machine.received(segments)
  }

  static func rest() -> [HostileInputs.Decoder] {
    [
      texts(
        #"/a/b%20c/.json?orderBy="$key"&startAt="a"&limitToFirst=3&timeout=3s&auth_variable_override={}"#,
        "/users/.json?ns=n&shallow=true&print=pretty&writeSizeLimit=tiny", "/a.json?callback=f&auth=t&format=export",
        read: { target in _ = try DatabaseRESTWire.call(method: "GET", target: target) { _ in nil } }),
      bodies(
        #"{"a":{".value":1.0,".priority":2},"l":[true,null,"x"],"o":{"0":1,"9":2},".priority":"p"}"#,
        #"{"n":{".sv":{"increment":2}},"t":{".sv":"timestamp"}}"#, read: { _ = try NodeWire.node(json: $0) }),
      bodies(#"{"path":"/b","data":{"a":1}}"#, read: { _ = try DatabaseStreamEvent.event(name: "put", data: $0) }),
      bodies(
        #"{"path":"/","data":{"a/b":[1,null]}}"#, read: { _ = try DatabaseStreamEvent.event(name: "patch", data: $0) }),
    ]
  }
}
