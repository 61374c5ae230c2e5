import VestaFirestoreBackend

/// The jobs: long work, done by tasks between the turns, whose results are events.
extension WatchHub {
  /// Does the work of a job concurrently with the task that serves.
  func begin(_ job: WatchMachine.Job, _ run: Int) -> Task<Void, Never> {
    Task {
      switch job.work {
      case .start(let request, let target):
        self.submit(.started(job.id, await self.start(request, for: target, job.attempts)), of: run)
      case .requery(let watch, let subject):
        self.submit(.answered(job.id, watch, await self.answer(subject, job.attempts)), of: run)
      }
    }
  }

  /// Works out a start, and brings it near the latest version.
  private func start(
    _ request: StartRequest, for target: Int32, _ attempts: Int
  ) async -> Result<WatchStart, FirestoreServiceError> {
    do {
      var start: WatchStart?
      try await read {
        start = try await WatchStart(
          request, in: $0, digest: self.options.md5, now: self.options.now(), attempts: attempts)
      }
      // Many commits may have happened in between; fewer happen while they are processed.
      try await read { snapshot in
        if let before = start?.version, before < snapshot.version { _ = try await start?.advance(to: snapshot) }
      }
      // Of documents that a guard is asked about, no state is sent but the one that it is asked about.
      if gatekeeper == nil || !request.subject.isDocuments { start?.prepare(for: target) }
      guard let start else { return .failure(.shutDown) }
      return .success(start)
    } catch {
      return .failure(failure(error))
    }
  }

  /// Runs a limited query, and brings the answer near the latest version.
  private func answer(_ subject: WatchSubject, _ attempts: Int) async -> Result<LimitedAnswer, FirestoreServiceError> {
    do {
      var answer: LimitedAnswer?
      try await read { snapshot in
        let limited = try await subject.limitedView(in: snapshot, attempts: attempts)
        answer = LimitedAnswer(version: snapshot.version, limited: limited)
      }
      // Many commits may have happened in between; fewer happen while they are processed.
      try await read { snapshot in _ = try await answer?.advance(to: snapshot, subject) }
      guard let answer else { return .failure(.shutDown) }
      return .success(answer)
    } catch {
      return .failure(failure(error))
    }
  }
}
