import Foundation
import Testing
import VestaConcurrency
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaServer

/// The reasons why a server does not start.
@Suite(.serialized) struct StartTests {
  private static let freePorts = Dictionary(uniqueKeysWithValues: ServerSettings.usualPorts.keys.map { ($0, 0) })

  @Test(.timeLimit(.minutes(20))) func `two servers do not share a directory of data`() async throws {
    try await withTemporaryDirectory { directory in
      let settings = ServerSettings(
        project: "data-\(UUID().uuidString.lowercased())", data: directory.path, ports: Self.freePorts)
      let first = try await VestaServer.start(settings)
      let error = await #expect(throws: ServerError.self) { _ = try await VestaServer.start(settings) }
      #expect(error?.description.contains("Another server uses the data in") == true)
      let ports = ["", "-auth", "-database", "-firestore", "-functions", "-hub", "-storage"]
      let arguments = ports.flatMap { ["--port\($0)", "0"] } + ["--data", directory.path]
      let doctor = await DoctorCommand.run(arguments, in: "/no/such/directory")
      #expect(doctor.status == 1 && doctor.text.contains("Another server uses the data in"), "\(doctor.text)")
      await first.stop()
      let second = try await VestaServer.start(settings)
      await second.stop()
    }
  }

  @Test func `a directory that cannot take the export of the end is refused at the start`() async throws {
    try await withTemporaryDirectory { directory in
      let foreign = directory.appending(path: "foreign")
      try FileManager.default.createDirectory(at: foreign, withIntermediateDirectories: true)
      try Data("precious".utf8).write(to: foreign.appending(path: "notes.txt"))
      for path in [foreign.path, foreign.appending(path: "notes.txt/export").path] {
        let arguments = try ServeArguments(["--memory", "--export-on-exit", path], in: "/no")
        let run = ServerRun(arguments) { Issue.record("It has started: \($0)") }
        await #expect(throws: ServerError.self) { try await run.serve(until: .ended) }
      }
      try ExportPlace(directory.appending(path: "new/deep").path).checkWritable()
      // The data of the server itself, which is not there yet.
      let data = directory.appending(path: "data").path
      for path in [data, directory.appending(path: "sub/..").path] {
        let run = ServerRun(try ServeArguments(["--data", data, "--export-on-exit", path], in: "/no")) {
          Issue.record("It has started: \($0)")
        }
        await #expect(throws: ServerError.self) { try await run.serve(until: .ended) }
      }
      #expect(!FileManager.default.fileExists(atPath: data))
    }
  }

  @Test(.timeLimit(.minutes(20))) func `a PostgreSQL that cannot be reached is said at the start`() async throws {
    var settings = ServerSettings(project: "p", ports: Self.freePorts)
    settings.postgres = "postgres://nobody:secret@127.0.0.1:1/x?connect_timeout=2"
    let error = await #expect(throws: ServerError.self) { _ = try await VestaServer.start(settings) }
    let text = error?.description ?? ""
    #expect(text.contains("The PostgreSQL of --store cannot be used") && !text.contains("secret"), "\(text)")
  }

  @Test(.timeLimit(.minutes(20))) func `a second signal ends a command that ignores signals`() async throws {
    let ports = ["", "-auth", "-database", "-firestore", "-functions", "-hub", "-storage"]
    let arguments = try ServeArguments(ports.flatMap { ["--port\($0)", "0"] }, in: "/no", keepsData: false)
    let (said, statuses, clock) = (VestaTesting.Log<String>(), VestaTesting.Log<Int32>(), ManualClock())
    let signals = RunSignals(clock: clock.service, say: said.add, endAtOnce: statuses.add)
    let run = ServerRun(arguments) { said.add($0) }
    try await withTemporaryDirectory { directory in
      // The command says by a pipe that it ignores signals: one before would end it.
      let path = directory.appending(path: "ready").path
      try #require(mkfifo(path, 0o600) == 0)
      let pipe = open(path, O_RDWR)
      let isReady = Latch()
      Thread.detachNewThread {
        var byte: UInt8 = 0
        _ = read(pipe, &byte, 1)
        isReady.open()
      }
      let sending = Task {
        await isReady.wait()
        signals.received(SIGTERM)
        clock.advance(by: ServerTuning().signalInterval)
        signals.received(SIGTERM)
      }
      let status: Result<Int32, any Error>
      do {
        status = .success(
          try await run.execute(["trap '' INT TERM; echo > '\(path)'; exec sleep 60"], signals: signals))
      } catch {
        status = .failure(error)
      }
      // The thread ends, whatever has become of the command.
      _ = write(pipe, "x", 1)
      await sending.value
      close(pipe)
      #expect(try status.get() == 128 + SIGKILL)
    }
    #expect(statuses.entries == [128 + SIGTERM] && said.entries.last == "Ended at once.")
  }

  @Test func `a text that cannot be a project is refused at the start`() async throws {
    for project in ["A b", "", "x/y", String(repeating: "x", count: 101)] {
      let settings = ServerSettings(project: project, ports: Self.freePorts)
      await #expect(throws: ServerError.self) { _ = try await VestaServer.start(settings) }
    }
    let doctor = await DoctorCommand.run(["--project", "A b", "--memory"], in: "/no/such/directory")
    #expect(doctor.status == 1 && doctor.text.contains("cannot be a project"))
  }
}
