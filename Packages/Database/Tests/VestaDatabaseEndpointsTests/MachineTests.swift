import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaTesting

@testable import VestaDatabaseEndpoints

/// The machines of connections, alone.
@Suite struct MachineTests {
  @Test func `any history of polls answers each poll once, and sends each text once, in order`() {
    for seed in 0..<2_000 {
      var random = SplitMix(seed: UInt64(seed))
      var machine = PollMachine()
      var (answered, sent, scripts): ([Int], Int, [String]) = ([], 0, [])
      var polls = 0
      func take(_ answers: [PollMachine.Answer]) {
        for answer in answers {
          answered.append(answer.poll)
          scripts.append(String(decoding: answer.script, as: UTF8.self))
        }
      }
      for _ in 0..<Int.random(in: 0..<40, using: &random) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
          polls += 1
          take(machine.arrived(polls))
        case 2:
          sent += 1
          take(machine.send(Array("\(sent)".utf8)))
        default: take(machine.heldLong(Int.random(in: 0...polls, using: &random)))
        }
      }
      polls += 1
      take(machine.arrived(polls))
      take(machine.end())
      polls += 1
      take(machine.arrived(polls))
      #expect(answered.sorted() == Array(1...polls), "seed \(seed)")
      // pRTLPCB(number,[texts]);
      let data = scripts.filter { $0.hasPrefix("pRTLPCB(") }
      let numbers = data.compactMap { Int($0.dropFirst(8).prefix { $0 != "," }) }
      #expect(numbers == Array(1..<(data.count + 1)), "seed \(seed)")
      let texts = data.flatMap { script in
        script.drop { $0 != "[" }.dropFirst().prefix { $0 != "]" }.split(separator: ",").compactMap { Int($0) }
      }
      #expect(texts == Array(1..<(sent + 1)), "seed \(seed)")
    }
  }

  @Test func `damaged requests never stop the machine, and each number is answered once`() throws {
    let seeds = [
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":{"x":[1,null,{".sv":"timestamp"}]},"h":"abc"}}}"#,
      #"{"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","q":{"sp":1,"sn":"k","sin":true,"l":5,"vf":"l","i":"x/y"},"t":1,"h":"","ch":{"hs":["a","b"],"ps":["c"]}}}}"#,
      #"{"t":"d","d":{"r":3,"a":"gauth","b":{"cred":"owner","authvar":{"uid":"a"},"noauth":true}}}"#,
      #"{"t":"d","d":{"r":4,"a":"om","b":{"p":"/a","d":{"b/c":1}}}}"#, #"{"t":"c","d":{"t":"p","d":{}}}"#,
    ].map { Array($0.utf8) }
    var random = SplitMix(seed: 7)
    for _ in 0..<100_000 {
      var machine = ServingMachine(host: "h", tuning: DatabaseEndpointsTuning())
      var text = seeds[Int.random(in: 0..<seeds.count, using: &random)]
      for _ in 0..<Int.random(in: 0...4, using: &random) where !text.isEmpty {
        let place = Int.random(in: 0..<text.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: text[place] = UInt8.random(in: 0...255, using: &random)
        case 1: text.remove(at: place)
        case 2: text.insert(contentsOf: text[place...].prefix(20), at: place)
        default: text = Array(text[..<place])
        }
      }
      guard case .request(_, let id)? = machine.received(text) else { continue }
      guard case .send(let reply)? = machine.received(.reply(id, .ok)) else {
        Issue.record("a reply is not sent")
        continue
      }
      #expect(try JSONObject(json: reply)["d"]?.object?["r"]?.integer == Int64(id))
      #expect(!machine.isFull)
    }
  }

  @Test func `requests without replies fill the machine, by number and by size`() {
    var tuning = DatabaseEndpointsTuning()
    (tuning.requestLimit, tuning.requestBytes) = (3, 1_000)
    func put(_ id: Int, _ size: Int) -> [UInt8] {
      let text = String(repeating: "x", count: size)
      return Array(#"{"t":"d","d":{"r":\#(id),"a":"p","b":{"p":"/a","d":"\#(text)"}}}"#.utf8)
    }
    var machine = ServingMachine(host: "h", tuning: tuning)
    for id in 1...3 {
      #expect(!machine.isFull)
      _ = machine.received(put(id, 1))
    }
    #expect(machine.isFull)
    _ = machine.received(.reply(2, .ok))
    #expect(!machine.isFull)
    _ = machine.received(put(2, 1_000))
    #expect(machine.isFull)
    for id in 1...3 { _ = machine.received(.reply(id, .ok)) }
    #expect(!machine.isFull)
    // A number that waits for its reply is not another request's.
    _ = machine.received(put(9, 1))
    guard case .close? = machine.received(put(9, 1)) else {
      Issue.record("a number was used twice")
      return
    }
  }
}
