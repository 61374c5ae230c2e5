// The one file of this package that knows the platform: how many processors there are, and the two password functions
// that libcrypto 3.0 lacks.
import CVestaOpenSSL
import VestaCryptoInterop

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif
#if canImport(CVestaCrypt)
  import CVestaCrypt
#endif

enum Platform {
  static var processorCount: Int {
    #if os(Windows)
      2
    #else
      max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    #endif
  }

  /// The 31 characters that bcrypt makes of a password.
  static func bcrypt(
    _ password: borrowing WipedBytes, _ salt: [UInt8], _ revision: BcryptRevision, _ cost: Int
  ) throws(CryptoError) -> [UInt8] {
    #if canImport(CVestaCrypt)
      // A C string ends at a zero byte, so a password with one would match its own beginning: it matches nothing.
      guard !password.prefix(password.count).contains(0) else { return [UInt8](repeating: 0, count: 31) }
      // bcrypt looks at 72 bytes only, and crypt_ra refuses more than 511.
      let phrase = WipedBytes(password.prefix(72), zeros: 1)
      let setting = "$\(revision.rawValue)$\(cost < 10 ? "0" : "")\(cost)$" + String(decoding: salt, as: UTF8.self)
      var scratch: UnsafeMutableRawPointer?
      var size: Int32 = 0
      defer {
        if let scratch { OPENSSL_cleanse(scratch, Int(size)) }
        free(scratch)
      }
      let result = phrase.withCharacters { characters, _ in
        crypt_ra(characters, setting, &scratch, &size).map { String(cString: $0) }
      }
      guard let result, result.utf8.count == setting.utf8.count + 31, result.hasPrefix(setting) else {
        throw CryptoError(.unsupported, "libcrypt on this system cannot compute bcrypt with these parameters")
      }
      return Array(result.utf8.suffix(31))
    #else
      throw CryptoError(.unsupported, "bcrypt needs libxcrypt, which is there on Linux only")
    #endif
  }

  /// Whether there is a library for Argon2.
  static var hasArgon2: Bool { argon2Hash != nil }

  private static func number(of variant: Argon2Parameters.Variant) -> Int32 {
    switch variant {
    case .d: 0
    case .i: 1
    case .id: 2
    }
  }

  /// The Argon2 digest of a password.
  static func argon2(
    _ password: borrowing WipedBytes, _ salt: [UInt8], _ parameters: Argon2Parameters, length: Int
  ) throws(CryptoError) -> [UInt8] {
    guard let function = argon2Hash else {
      throw CryptoError(.unsupported, "Argon2 hashes need the library libargon2 (Debian: apt install libargon2-1)")
    }
    let result = WipedBytes(count: length)
    let status = function(
      UInt32(parameters.passes), UInt32(parameters.memory), UInt32(parameters.lanes), password.pointer, password.count,
      salt, salt.count, result.pointer, length, nil, 0, number(of: parameters.variant),
      UInt32(parameters.version)
    )
    guard status == 0 else { throw CryptoError(.libraryFailure, "Argon2 failed (libargon2 error \(status))") }
    return result.copy
  }

  /// `argon2_hash` of libargon2: passes, memory, lanes, password, salt, result, encoded text, type, version.
  private typealias Argon2Hash =
    @convention(c) (
      UInt32, UInt32, UInt32, UnsafeRawPointer?, Int, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?, Int,
      UnsafeMutablePointer<CChar>?, Int, Int32, UInt32
    ) -> Int32

  // Looked up at run time and not linked: only programs that import users with Argon2 hashes need the library, and its
  // headers are seldom installed.
  private static let argon2Hash: Argon2Hash? = {
    #if os(Windows)
      return nil
    #else
      for name in ["libargon2.so.1", "libargon2.1.dylib"] {
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL), let symbol = dlsym(library, "argon2_hash") else {
          continue
        }
        // The type above is that of the symbol in argon2.h; it has not changed since 2016.
        return unsafeBitCast(symbol, to: Argon2Hash.self)
      }
      return nil
    #endif
  }()
}
