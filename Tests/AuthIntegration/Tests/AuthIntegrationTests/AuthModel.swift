/// Who can get in: the accounts as the documentation describes them, in plain values.
struct AuthModel: Sendable {
  struct Account: Sendable, Equatable {
    var uid: String
    /// Counts the accounts in the order in which they were made.
    var number: Int
    var email: String?
    var isVerified = false
    var password: String?
    var phone: String?
    var google: String?
    var isDisabled = false
    /// The phone of the second factor.
    var factor: String?
    /// Counts what ends all sessions and codes.
    var epoch = 0
  }

  /// A way in.
  enum Credential: Sendable, Hashable {
    case password(email: String, String)
    case phone(String)
    case google(String)
    case link(email: String)
  }

  enum Answer: Sendable, Equatable {
    /// In at once.
    case user(String)
    /// In after the second factor.
    case factor(String)
    case disabled
    /// A new account.
    case new
    case refused
  }

  /// A device on which a user is signed in.
  struct Session: Sendable {
    var uid: String
    var epoch: Int
    var signedInAt: Int64
    /// Whether it has passed a second factor.
    var hasFactor = false
    /// Whether the last way in that was used or linked is a phone, which allows no second factor.
    var isOfPhone = false
  }

  /// A code that takes the change of an address back.
  struct Recovery: Sendable {
    var code: String
    var uid: String
    var email: String
    var isUsable = true
  }

  var accounts: [String: Account] = [:]
  /// How many accounts were made.
  var made = 0
  var sessions: [Session?]
  var recoveries: [Recovery] = []

  init(devices: Int) { sessions = Array(repeating: nil, count: devices) }

  func owner(where isOwner: (Account) -> Bool) -> Account? { accounts.values.first(where: isOwner) }

  func answer(_ credential: Credential) -> Answer {
    let account: Account?
    switch credential {
    case .password(let email, let password):
      account = owner { $0.email == email && $0.password == password }
      guard account != nil else {
        // An account that is disabled is told before the password is compared.
        return owner { $0.email == email }?.isDisabled == true ? .disabled : .refused
      }
    case .phone(let phone): account = owner { $0.phone == phone }
    case .google(let subject): account = owner { $0.google == subject }
    case .link(let email): account = owner { $0.email == email }
    }
    guard let account else { return .new }
    if account.isDisabled { return .disabled }
    return account.factor == nil || credential.isUnproven(account) ? .user(account.uid) : .factor(account.uid)
  }

  func isValid(_ session: Session) -> Bool {
    guard let account = accounts[session.uid] else { return false }
    return !account.isDisabled && account.epoch == session.epoch
  }

  // MARK: Changes

  /// A mailbox is proven: an owner who proves it for the first time gets the account without what was set up before.
  mutating func prove(_ uid: String) {
    guard accounts[uid]?.isVerified == false else { return }
    accounts[uid]?.isVerified = true
    accounts[uid]?.password = nil
    accounts[uid]?.phone = nil
    accounts[uid]?.google = nil
    accounts[uid]?.factor = nil
    accounts[uid]?.epoch += 1
  }

  mutating func reset(_ uid: String, _ password: String) {
    prove(uid)
    accounts[uid]?.password = password
    accounts[uid]?.phone = nil
    accounts[uid]?.google = nil
    accounts[uid]?.epoch += 1
  }

  mutating func recover(_ index: Int) {
    let recovery = recoveries[index]
    prove(recovery.uid)
    accounts[recovery.uid]?.email = recovery.email
    accounts[recovery.uid]?.isVerified = true
    accounts[recovery.uid]?.password = nil
    accounts[recovery.uid]?.phone = nil
    accounts[recovery.uid]?.google = nil
    accounts[recovery.uid]?.epoch += 1
    // It voids the changes after it, and not those before.
    for later in recoveries.indices where later >= index && recoveries[later].uid == recovery.uid {
      recoveries[later].isUsable = false
    }
  }

  mutating func delete(_ uid: String) {
    accounts[uid] = nil
    for index in recoveries.indices where recoveries[index].uid == uid { recoveries[index].isUsable = false }
  }
}

extension AuthModel.Credential {
  /// Whether it proves a mailbox for the first time, and so is the owner's without a second factor.
  fileprivate func isUnproven(_ account: AuthModel.Account) -> Bool {
    if case .link = self { return !account.isVerified }
    return false
  }
}
