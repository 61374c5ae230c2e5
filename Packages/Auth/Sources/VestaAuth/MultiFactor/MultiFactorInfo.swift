public import Foundation

/// A second factor of a user, of any kind.
public protocol SecondFactorInfo: Sendable {
  /// Names the factor.
  var uid: String { get }

  /// The name that the user gave it.
  var displayName: String? { get }

  /// The time of the enrolment.
  var enrollmentDate: Date { get }

  /// The kind of the factor: "phone" or "totp".
  var factorID: String { get }
}

/// A second factor of a user, of any kind.
public typealias MultiFactorInfo = any SecondFactorInfo

/// A second factor that gets its codes by text message.
public final class PhoneMultiFactorInfo: SecondFactorInfo {
  /// The kind of factors that get their codes by text message.
  public static let PhoneMultiFactorID = "phone"

  /// The kind of factors that make their codes from a secret and the time.
  public static let TOTPMultiFactorID = "totp"

  /// Names the factor.
  public let uid: String

  /// The name that the user gave it.
  public let displayName: String?

  /// The time of the enrolment.
  public let enrollmentDate: Date

  /// "phone".
  public let factorID = PhoneMultiFactorInfo.PhoneMultiFactorID

  /// The phone number; in the hints of a sign-in, its last digits.
  public let phoneNumber: String

  init(_ record: FactorRecord, phoneNumber: String) {
    uid = record.uid
    displayName = record.displayName
    enrollmentDate = record.enrollmentDate
    self.phoneNumber = phoneNumber
  }
}

/// A second factor that makes its codes from a secret and the time.
public final class TOTPMultiFactorInfo: SecondFactorInfo {
  /// Names the factor.
  public let uid: String

  /// The name that the user gave it.
  public let displayName: String?

  /// The time of the enrolment.
  public let enrollmentDate: Date

  /// "totp".
  public let factorID = PhoneMultiFactorInfo.TOTPMultiFactorID

  init(_ record: FactorRecord) {
    uid = record.uid
    displayName = record.displayName
    enrollmentDate = record.enrollmentDate
  }
}

extension FactorRecord {
  /// The factor as the app sees it.
  var info: MultiFactorInfo {
    phoneNumber.map { PhoneMultiFactorInfo(self, phoneNumber: $0) } ?? TOTPMultiFactorInfo(self)
  }
}
