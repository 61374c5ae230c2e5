import Foundation
import VestaAuth
import VestaAuthBackend
import VestaConcurrency
import VestaServiceInterop
import VestaTesting

extension AuthHistory {
  /// Does one thing, and says in the model what the documentation says that it does.
  func act() async throws {
    let device = random.below(2), auth = auths[device]
    switch random.below(24) {
    case 0...2: try await signUp(device)
    case 3...6:
      let credentials: [AuthModel.Credential] = [
        .password(email: random.pick(Self.emails), random.pick(Self.passwords)), .phone(random.pick(Self.phones)),
        .google(random.pick(Self.subjects)), .link(email: random.pick(Self.emails)),
      ]
      await enter(device, random.pick(credentials))
    case 7:
      step("\(device) signs in anonymously")
      // An anonymous user stays the same, in the same session: the service is not asked.
      let before = auth.currentUser.flatMap { $0.isAnonymous ? $0.uid : nil }
      await expect(device, nil) {
        let user = try await auth.signInAnonymously().user
        if before != user.uid { self.entered(device, user.uid, isNew: true) }
      }
    case 8:
      step("\(device) signs out")
      try auth.signOut()
      model.sessions[device] = nil
    case 9, 10: await link(device, random.below(3))
    case 11: await unlink(device)
    case 12:
      let password = random.pick(Self.passwords)
      await change(device, "sets a password", needsEmail: true) { user in
        try await user.updatePassword(to: password)
      } effect: {
        $0.password = password
        $0.epoch += 1
      }
    case 13, 14: await changeEmail(device)
    case 15: await verify(device)
    case 16: await enroll(device)
    case 17: await reset()
    case 18: await steal(device)
    case 19: await recover()
    case 20: await administer()
    case 21:
      await change(device, "deletes the account") {
        try await $0.delete()
      } effect: { _ in
      }
    case 22:
      step("time passes")
      offset.withLock { $0 += 301_000_000 }
    default: try await restart()
    }
  }

  private func signUp(_ device: Int) async throws {
    let email = random.pick(Self.emails), password = random.pick(Self.passwords)
    step("\(device) signs up as \(email), \(password)")
    let isTaken = model.owner { $0.email == email } != nil
    await expect(device, isTaken ? [.emailAlreadyInUse] : nil) {
      let user = try await self.auths[device].createUser(withEmail: email, password: password).user
      self.entered(device, user.uid, isNew: true) { ($0.email, $0.password) = (email, password) }
    }
  }

  private func enter(_ device: Int, _ credential: AuthModel.Credential) async {
    step("\(device) signs in: \(credential)")
    let wanted = model.answer(credential)
    do {
      let found = try await signIn(credential, auths[device])
      guard found == wanted else { return broken("\(credential) is answered with \(found), not with \(wanted)") }
      guard found != .refused, found != .disabled, let uid = auths[device].currentUser?.uid else { return }
      if case .link = credential { model.prove(uid) }
      entered(device, uid, isNew: found == .new, hasFactor: found == .factor(uid)) { account in
        switch credential {
        case .password: break
        case .phone(let phone): account.phone = phone
        case .google(let subject): account.google = subject
        case .link(let email): (account.email, account.isVerified) = (email, true)
        }
      }
      if case .phone = credential { model.sessions[device]?.isOfPhone = true }
    } catch {
      broken("\(credential) is answered with \(error), not with \(wanted)")
    }
  }

  private func entered(
    _ device: Int, _ uid: String, isNew: Bool, hasFactor: Bool = false,
    _ fill: (inout AuthModel.Account) -> Void = { _ in }
  ) {
    if isNew {
      model.made += 1
      var account = AuthModel.Account(uid: uid, number: model.made)
      fill(&account)
      model.accounts[uid] = account
    }
    model.sessions[device] = AuthModel.Session(
      uid: uid, epoch: model.accounts[uid]?.epoch ?? 0, signedInAt: now, hasFactor: hasFactor)
  }

  /// Expects success, or one of some errors.
  private func expect(_ device: Int, _ codes: [AuthErrorCode]?, _ body: () async throws -> Void) async {
    do {
      try await body()
      if let codes { broken("it succeeds, and \(codes) was expected") }
    } catch let error as AuthError {
      if codes?.contains(error.code) != true { broken("it fails with \(error), expected: \(codes ?? [])") }
    } catch {
      broken("it fails with \(error)")
    }
  }

  /// The errors of a session that has ended.
  private static let ended: [AuthErrorCode] = [.userTokenExpired, .userNotFound, .userDisabled, .invalidUserToken]

  /// A change that needs a recent sign-in, by the session of a device.
  private func change(
    _ device: Int, _ text: String, needsEmail: Bool = false, needsRecent: Bool = true, refusal: [AuthErrorCode]? = nil,
    _ body: (User) async throws -> Void, effect: (inout AuthModel.Account) -> Void
  ) async {
    guard let user = auths[device].currentUser, let session = model.sessions[device] else { return }
    let account = model.accounts[session.uid]
    if needsEmail, account?.email == nil { return }
    step("\(device) \(text)")
    let isValid = model.isValid(session), isOld = now - session.signedInAt >= 300
    let isAnonymous = account.map { $0.email == nil && $0.phone == nil && $0.google == nil } ?? false
    var codes = refusal
    if isOld, needsRecent, !isAnonymous { codes = [.requiresRecentLogin] + (refusal ?? []) }
    if !isValid { codes = Self.ended }
    await expect(device, codes) { try await body(user) }
    if !isValid {
      if auths[device].currentUser != nil { broken("device \(device) is still signed in") }
      model.sessions[device] = nil
    } else if codes == nil {
      if text == "deletes the account" {
        model.delete(session.uid)
        model.sessions[device] = nil
      } else if var account = model.accounts[session.uid] {
        effect(&account)
        model.accounts[session.uid] = account
        if auths[device].currentUser != nil { model.sessions[device]?.epoch = account.epoch }
      }
    }
  }

  // MARK: Links

  private func link(_ device: Int, _ kind: Int) async {
    guard let session = model.sessions[device], let account = model.accounts[session.uid] else { return }
    let auth = auths[device]
    switch kind {
    case 0:
      // Most are free, or few links would succeed.
      let free = Self.phones.filter { phone in model.owner { $0.phone == phone } == nil }
      let phone = random.pick(free.isEmpty || random.oneIn(4) ? Self.phones : free)
      let isTaken = model.owner { $0.phone == phone && $0.uid != account.uid } != nil
      guard account.phone == nil, account.factor == nil else { return }
      await link(device, "phone", phone, refusal: isTaken ? [.credentialAlreadyInUse] : nil) {
        _ = try await $0.link(with: try await self.phoneCredential(phone, auth))
      } effect: {
        $0.phone = phone
      }
    case 1:
      let google = random.pick(Self.subjects),
        isTaken = model.owner { $0.google == google && $0.uid != account.uid } != nil
      guard account.google == nil else { return }
      await link(device, "google.com", google, refusal: isTaken ? [.credentialAlreadyInUse] : nil) {
        _ = try await $0.link(with: self.google(google))
      } effect: {
        $0.google = google
      }
    default:
      guard account.email == nil else { return }
      let email = random.pick(Self.emails), password = random.pick(Self.passwords)
      let isTaken = model.owner { $0.email == email } != nil
      await link(
        device, "password", "\(email), \(password)",
        refusal: isTaken ? [.emailAlreadyInUse, .credentialAlreadyInUse] : nil
      ) {
        _ = try await $0.link(with: EmailAuthProvider.credential(withEmail: email, password: password))
      } effect: {
        ($0.email, $0.password) = (email, password)
        $0.epoch += 1
      }
    }
  }

  /// A device refuses by itself what its user has as far as it knows, as Apple's SDK does.
  private func link(
    _ device: Int, _ provider: String, _ text: String, refusal: [AuthErrorCode]?,
    _ body: (User) async throws -> Void, effect: (inout AuthModel.Account) -> Void
  ) async {
    guard let user = auths[device].currentUser, let session = model.sessions[device] else { return }
    if user.providerData.contains(where: { $0.providerID == provider }) {
      step("\(device) links \(text), of which kind it has one")
      return await expect(device, [.providerAlreadyLinked]) { try await body(user) }
    }
    if provider == "password", let refusal, !model.isValid(session) {
      // The service looks at the address before it looks at the session, as Firebase's does.
      step("\(device) links \(text), with a session that has ended")
      return await expect(device, refusal + Self.ended) { try await body(user) }
    }
    await change(device, "links \(text)", refusal: refusal, body) { account in
      effect(&account)
      model.sessions[device]?.isOfPhone = provider == "phone"
    }
  }

  private func unlink(_ device: Int) async {
    guard let session = model.sessions[device], let account = model.accounts[session.uid] else { return }
    if account.phone != nil, random.oneIn(2) {
      await unlink(device, "phone") { $0.phone = nil }
    } else if account.google != nil {
      await unlink(device, "google.com") { $0.google = nil }
    }
  }

  /// A device knows the providers of its user since it last asked, and refuses another one by itself, as Apple's SDK
  /// does.
  private func unlink(_ device: Int, _ provider: String, effect: (inout AuthModel.Account) -> Void) async {
    guard let user = auths[device].currentUser else { return }
    guard user.providerData.contains(where: { $0.providerID == provider }) else {
      step("\(device) unlinks \(provider), which it does not know of")
      return await expect(device, [.noSuchProvider]) { _ = try await user.unlink(fromProvider: provider) }
    }
    await change(device, "unlinks \(provider)") {
      _ = try await $0.unlink(fromProvider: provider)
    } effect: {
      effect(&$0)
    }
  }

  // MARK: Addresses and second factors

  private func changeEmail(_ device: Int) async {
    guard let session = model.sessions[device], let old = model.accounts[session.uid]?.email else { return }
    let email = random.pick(Self.emails)
    guard email != old else { return }
    let isTaken = model.owner { $0.email == email } != nil, count = sender.recordedEmails.count
    var codes: [AuthErrorCode]? = isTaken ? [.emailAlreadyInUse] : nil
    if now - session.signedInAt >= 300 { codes = [.requiresRecentLogin] + (codes ?? []) }
    let isValid = model.isValid(session)
    await change(device, "asks to change to \(email)", refusal: codes) {
      try await $0.sendEmailVerification(beforeUpdatingEmail: email)
    } effect: { _ in
    }
    guard codes == nil, isValid, let message = self.email(.verifyAndChangeEmail, email, after: count) else { return }
    step("and does")
    await expect(device, nil) { try await self.auths[device].applyActionCode(message.code) }
    model.accounts[session.uid]?.email = email
    model.accounts[session.uid]?.isVerified = true
    model.accounts[session.uid]?.epoch += 1
    guard let recovery = self.email(.recoverEmail, old, after: count) else {
      return broken("no code takes the change from \(old) back")
    }
    model.recoveries.append(AuthModel.Recovery(code: recovery.code, uid: session.uid, email: old))
  }

  private func verify(_ device: Int) async {
    guard let session = model.sessions[device], let email = model.accounts[session.uid]?.email else { return }
    let count = sender.recordedEmails.count, isValid = model.isValid(session)
    await change(device, "verifies its address", needsRecent: false) {
      try await $0.sendEmailVerification()
    } effect: { _ in
    }
    guard isValid, let message = self.email(.verifyEmail, email, after: count) else { return }
    await expect(device, nil) { try await self.auths[device].applyActionCode(message.code) }
    model.accounts[session.uid]?.isVerified = true
  }

  private func enroll(_ device: Int) async {
    guard let session = model.sessions[device], let account = model.accounts[session.uid], account.email != nil,
      account.phone == nil, !session.isOfPhone
    else { return }
    let auth = auths[device]
    if account.factor == nil {
      let phone = random.pick(Self.factors)
      await change(device, "adds a second factor", refusal: account.isVerified ? nil : [.unverifiedEmail]) { user in
        let provider = PhoneAuthProvider.provider(auth: auth)
        let id = try await provider.verifyPhoneNumber(phone, multiFactorSession: try await user.multiFactor.session())
        let credential = provider.credential(withVerificationID: id, verificationCode: self.text(id))
        try await user.multiFactor.enroll(
          with: PhoneMultiFactorGenerator.assertion(with: credential), displayName: "phone")
      } effect: {
        $0.factor = phone
        $0.epoch += 1
      }
      if model.accounts[session.uid]?.factor != nil { model.sessions[device]?.hasFactor = true }
    } else {
      await change(
        device, "removes its second factor", refusal: session.hasFactor ? nil : [.requiresRecentLogin]
      ) { user in
        try await user.reload()
        guard let factor = user.multiFactor.enrolledFactors.first else { return }
        try await user.multiFactor.unenroll(with: factor)
      } effect: {
        $0.factor = nil
        $0.epoch += 1
      }
    }
  }

  // MARK: Codes

  /// Somebody who is signed in for a while adds a way in, and the owner of the mailbox resets the password.
  private func steal(_ device: Int) async {
    let email = random.pick(Self.emails)
    guard model.owner(where: { $0.email == email })?.isDisabled == false else { return }
    await enter(device, .link(email: email))
    await link(device, random.below(2))
    await reset(of: email)
  }

  private func reset(of chosen: String? = nil) async {
    // Every other one is of an account that has ways in to lose.
    let open = model.accounts.values.filter { $0.phone != nil || $0.google != nil || $0.factor != nil }
    let emails = random.oneIn(2) ? open.compactMap(\.email).sorted() : []
    let picked = random.pick(emails.isEmpty ? Self.emails : emails), email = chosen ?? picked
    let password = random.pick(Self.passwords)
    let count = sender.recordedEmails.count
    guard let account = model.owner(where: { $0.email == email && !$0.isDisabled }) else { return }
    step("reset of \(email) to \(password)")
    await expect(2, nil) {
      try await self.auths[2].sendPasswordReset(withEmail: email)
      guard let message = self.email(.passwordReset, email, after: count) else {
        return self.broken("no code for \(email)")
      }
      try await self.auths[2].confirmPasswordReset(withCode: message.code, newPassword: password)
      self.model.reset(account.uid, password)
      let again = await self.isRefused {
        try await self.auths[2].confirmPasswordReset(withCode: message.code, newPassword: "again")
      }
      if !again { self.broken("a code of a reset works twice") }
    }
  }

  private func recover() async {
    guard !model.recoveries.isEmpty else { return }
    let index = random.below(model.recoveries.count), recovery = model.recoveries[index]
    step("recovery of \(recovery.email)")
    let isTaken = model.owner { $0.email == recovery.email && $0.uid != recovery.uid } != nil
    guard model.accounts[recovery.uid]?.isDisabled != true else { return }
    guard recovery.isUsable, !isTaken else {
      let isRefused = await isRefused { try await self.auths[2].applyActionCode(recovery.code) }
      if !isRefused { broken("a code that was voided, or whose address is another one's, works") }
      return
    }
    await expect(2, nil) {
      try await self.auths[2].applyActionCode(recovery.code)
      self.model.recover(index)
    }
  }

  private func isRefused(_ body: () async throws -> Void) async -> Bool {
    do {
      try await body()
      return false
    } catch {
      return true
    }
  }

  // MARK: The administrator

  private func administer() async {
    // In the order in which they were made, as ids are random and a seed shall have one history.
    let uids = model.accounts.values.sorted { $0.number < $1.number }.map(\.uid)
    guard !uids.isEmpty else { return }
    let uid = random.pick(uids)
    do {
      switch random.below(4) {
      case 0, 1:
        let isDisabled = model.accounts[uid]?.isDisabled != true
        step("\(uid) is disabled: \(isDisabled)")
        _ = try await admin.updateUser(AdminUpdateRequest(localID: uid, disabled: isDisabled), context: .owner)
        model.accounts[uid]?.isDisabled = isDisabled
      case 2:
        step("\(uid) is revoked")
        try await admin.revokeRefreshTokens(localID: uid, context: .owner)
        model.accounts[uid]?.epoch += 1
      default:
        step("\(uid) is deleted")
        try await admin.deleteUser(localID: uid, context: .owner)
        model.delete(uid)
      }
    } catch {
      broken("the administrator is refused: \(error)")
    }
  }
}
