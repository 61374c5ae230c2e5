import VestaConcurrency

@Sendable
func streamsChapter(_ guide: Guide) async throws {
  let weather = ListenerRegistry<String>()

  // A listener, as in the Firebase SDK.
  let received = Locked<[String]>([])
  let registration = weather.add { event in received.withLock { $0.append(event) } }
  weather.emit("rain")
  registration.cancel()
  weather.emit("hail")
  try guide.show("a listener receives events until it is removed", received.withLock { $0 } == ["rain"])

  // The same source as a stream: leaving the loop removes the listener.
  let stream = weather.events
  for event in ["sun", "wind", "snow"] { weather.emit(event) }
  var seen: [String] = []
  for await event in stream {
    seen.append(event)
    if event == "wind" { break }
  }
  try guide.show("a stream yields every event in order: \(seen)", seen == ["sun", "wind"])

  // So does cancelling the task that reads it.
  let (started, isStarted) = AsyncStream<Void>.makeStream()
  let gusts = ListenerRegistry<Int>()
  let reader = Task {
    for await _ in gusts.events { isStarted.finish() }
  }
  while gusts.count == 0 { await Task.yield() }
  gusts.emit(1)
  for await _ in started {}
  reader.cancel()
  await reader.value
  try guide.show("a stream ends when its task is cancelled, and its listener is gone", gusts.count == 0)
}
