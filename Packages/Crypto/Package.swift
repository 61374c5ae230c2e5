// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Crypto",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaCrypto", targets: ["VestaCrypto"]),
    // For the benchmarks, which compare libcrypto alone with VestaCrypto.
    .library(name: "CVestaOpenSSL", targets: ["CVestaOpenSSL"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/CryptoInterop"),
  ],
  targets: [
    .systemLibrary(name: "CVestaOpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CVestaCrypt", pkgConfig: "libcrypt", providers: [.apt(["libcrypt-dev"])]),
    .target(
      name: "VestaCrypto",
      dependencies: [
        "CVestaOpenSSL",
        .target(name: "CVestaCrypt", condition: .when(platforms: [.linux])),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaCryptoTests",
      dependencies: [
        "VestaCrypto", "CVestaOpenSSL",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaCryptoInteropContracts", package: "CryptoInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
