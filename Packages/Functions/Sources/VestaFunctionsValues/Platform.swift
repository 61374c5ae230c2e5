// The one file of this module that knows the platform.
import Foundation

/// Whether a Foundation number was made of an integer of at most 32 bits.
///
/// Foundation keeps small integers in the smallest form where it is not Apple's, so there the type is lost:
/// then every integer counts as one of 64 bits, which every receiver understands.
func isNarrow(_ number: NSNumber) -> Bool {
  #if canImport(Darwin)
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "q"), UInt8(ascii: "l"), UInt8(ascii: "Q"), UInt8(ascii: "L"): false
    default: true
    }
  #else
    false
  #endif
}
