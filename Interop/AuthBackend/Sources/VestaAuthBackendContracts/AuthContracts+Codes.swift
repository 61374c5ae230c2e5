import VestaAuthBackend
import VestaTesting

extension AuthContracts {
  static let codes: [Contract<AuthSubject>] = [
    Contract("a code verifies an address, once") { subject in
      let tokens = try await subject.signUp().tokens
      let code = try await subject.sendCode(.verifyEmail, idToken: tokens.idToken)
      let verified = try await subject.backend.update(UpdateRequest(oobCode: code), context: subject.context)
      try expect(verified.emailVerified, "the address is not verified")
      try expect(try await subject.user(tokens).emailVerified, "the address is not verified in the account")
      try await expectRefusal(.invalidOobCode, of: "the code a second time") {
        try await subject.backend.update(UpdateRequest(oobCode: code), context: subject.context)
      }
    },
    Contract("a code can be looked at, resets a password once, and ends all sessions") { subject in
      let tokens = try await subject.signUp().tokens
      let code = try await subject.sendCode(.passwordReset)
      for _ in 0..<2 {
        let seen = try await subject.backend.resetPassword(
          ResetPasswordRequest(oobCode: code), context: subject.context)
        try expect(seen.requestType, equals: .passwordReset, "what it is for")
        try expect(seen.email, equals: "ada@example.com", "the address")
      }
      let request = ResetPasswordRequest(oobCode: code, newPassword: "another horse")
      try await expectRefusal(.weakPassword, of: "a short password") {
        try await subject.backend.resetPassword(
          ResetPasswordRequest(oobCode: code, newPassword: "x"), context: subject.context)
      }
      _ = try await subject.backend.resetPassword(request, context: subject.context)
      try await expectRefusal(.invalidOobCode, of: "the code a second time") {
        try await subject.backend.resetPassword(request, context: subject.context)
      }
      try await expectRefusal(.tokenExpired, .invalidRefreshToken, of: "the old session") {
        try await subject.backend.refresh(
          RefreshRequest(refreshToken: tokens.refreshToken), context: subject.context)
      }
      _ = try await subject.signIn("ada@example.com", "another horse")
    },
    Contract("a code for one thing does nothing else") { subject in
      let tokens = try await subject.signUp().tokens
      let code = try await subject.sendCode(.verifyEmail, idToken: tokens.idToken)
      try await expectRefusal(.invalidOobCode, of: "a reset with it") {
        try await subject.backend.resetPassword(
          ResetPasswordRequest(oobCode: code, newPassword: "another horse"), context: subject.context)
      }
      try await expectRefusal(.invalidOobCode, of: "a sign-in with it") {
        try await subject.backend.signInWithEmailLink(
          EmailLinkSignInRequest(email: "ada@example.com", oobCode: code), context: subject.context)
      }
    },
    Contract("an e-mail link signs in once, for its address only") { subject in
      let code = try await subject.sendCode(.emailSignIn)
      try await expectRefusal(.invalidEmail, of: "another address") {
        try await subject.backend.signInWithEmailLink(
          EmailLinkSignInRequest(email: "bob@example.com", oobCode: code), context: subject.context)
      }
      let request = EmailLinkSignInRequest(email: "Ada@example.com", oobCode: code)
      let signedIn = try await subject.backend.signInWithEmailLink(request, context: subject.context)
      try expect(signedIn.isNewUser, "the account is not new")
      let tokens = try expectValue(signedIn.outcome.tokens, "tokens")
      try expect(try await subject.user(tokens).emailVerified, "the address is not verified")
      try await expectRefusal(.invalidOobCode, of: "the code a second time") {
        try await subject.backend.signInWithEmailLink(request, context: subject.context)
      }
    },
    Contract("a code that 16 present at once works once") { subject in
      let code = try await subject.sendCode(.emailSignIn)
      let request = EmailLinkSignInRequest(email: "ada@example.com", oobCode: code)
      let results = await atOnce(16) {
        try await subject.backend.signInWithEmailLink(request, context: subject.context)
      }
      try expect(results.count { (try? $0.get()) != nil }, equals: 1, "the number of sign-ins")
    },
    Contract("asking for a code names what is missing") { subject in
      let request = { SendOobCodeRequest(requestType: $0) }
      try await expectRefusal(.missingRequestType, of: "no type") {
        try await subject.backend.sendOobCode(request(nil), context: subject.context)
      }
      for type in [OobRequestType.passwordReset, .emailSignIn] {
        try await expectRefusal(.missingEmail, of: "no address") {
          try await subject.backend.sendOobCode(request(type), context: subject.context)
        }
      }
      try await expectRefusal(.invalidIDToken, of: "no ID token") {
        try await subject.backend.sendOobCode(request(.verifyEmail), context: subject.context)
      }
      try await expectRefusal(.missingNewEmail, of: "no new address") {
        try await subject.backend.sendOobCode(request(.verifyAndChangeEmail), context: subject.context)
      }
    },
    Contract("a phone's code signs in once") { subject in
      let (sessionInfo, code) = try await subject.sendText()
      let wrong = code == "000000" ? "000001" : "000000"
      try await expectRefusal(.invalidCode, of: "a wrong code") {
        try await subject.backend.signInWithPhoneNumber(
          PhoneSignInRequest(proof: .code(sessionInfo: sessionInfo, code: wrong)), context: subject.context)
      }
      let request = PhoneSignInRequest(proof: .code(sessionInfo: sessionInfo, code: code))
      let signedIn = try await subject.backend.signInWithPhoneNumber(request, context: subject.context)
      guard case .signedIn(let localID, let number, let isNew, let tokens) = signedIn else {
        throw ContractViolation("the number of nobody is in use")
      }
      try expect(isNew, "the account is not new")
      try expect(number, equals: "+15550000001", "the number")
      try expect(try await subject.user(tokens).localID, equals: localID, "the id of the token")
      try await expectRefusal(.invalidSessionInfo, of: "the code a second time") {
        try await subject.backend.signInWithPhoneNumber(request, context: subject.context)
      }
    },
    Contract("a number that another account has is not linked, and its proof signs in to that account") { subject in
      let (firstSession, firstCode) = try await subject.sendText()
      let first = try await subject.backend.signInWithPhoneNumber(
        PhoneSignInRequest(proof: .code(sessionInfo: firstSession, code: firstCode)), context: subject.context)
      guard case .signedIn(let owner, _, _, _) = first else { throw ContractViolation("the number is in use") }
      let tokens = try await subject.signUp().tokens
      let (sessionInfo, code) = try await subject.sendText()
      let request = PhoneSignInRequest(
        proof: .code(sessionInfo: sessionInfo, code: code), idToken: tokens.idToken)
      let linked = try await subject.backend.signInWithPhoneNumber(request, context: subject.context)
      guard case .numberInUse(let number, let proof, _) = linked else {
        throw ContractViolation("the number of another account was linked")
      }
      try expect(try await subject.user(tokens).phoneNumber == nil, "the number was linked")
      let again = try await subject.backend.signInWithPhoneNumber(
        PhoneSignInRequest(proof: .temporaryProof(phoneNumber: number, proof: proof)), context: subject.context)
      guard case .signedIn(owner, _, false, _) = again else {
        throw ContractViolation("the proof did not sign in to the number's account")
      }
    },
    Contract("a phone number has to be in the international form") { subject in
      for number in ["", "5550000001", "+", "+1 555", "+abc"] {
        try await expectRefusal(.invalidPhoneNumber, of: "the number \(number)") {
          try await subject.backend.sendVerificationCode(
            SendVerificationCodeRequest(phoneNumber: number), context: subject.context)
        }
      }
    },
    Contract("asking for a way to sign in checks the address first") { subject in
      try await expectRefusal(.missingIdentifier, of: "no address") {
        try await subject.backend.createAuthURI(CreateAuthURIRequest(identifier: ""), context: subject.context)
      }
      try await expectRefusal(.invalidIdentifier, of: "no real address") {
        try await subject.backend.createAuthURI(CreateAuthURIRequest(identifier: "nobody"), context: subject.context)
      }
      let asked = try await subject.backend.createAuthURI(
        CreateAuthURIRequest(identifier: "nobody@example.com", sessionID: "mine"), context: subject.context)
      try expect(asked.sessionID, equals: "mine", "the session")
      try expect(asked.isRegistered != true && asked.allProviders.isEmpty, "nobody has an account")
    },
  ]
}
