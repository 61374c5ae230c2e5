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
  name: "CryptoInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CryptoInterop", targets: ["CryptoInterop"]),
    .library(name: "CryptoInteropContracts", targets: ["CryptoInteropContracts"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop")
  ],
  targets: [
    .target(name: "CryptoInterop", swiftSettings: settings),
    .target(
      name: "CryptoInteropContracts",
      dependencies: ["CryptoInterop", .product(name: "ContractInterop", package: "ContractInterop")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "CryptoInteropTests",
      dependencies: [
        "CryptoInterop", "CryptoInteropContracts", .product(name: "ContractInterop", package: "ContractInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
