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
    .library(name: "VestaCryptoInterop", targets: ["VestaCryptoInterop"]),
    .library(name: "VestaCryptoInteropContracts", targets: ["VestaCryptoInteropContracts"]),
    .library(name: "VestaCryptoInteropFakes", targets: ["VestaCryptoInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core")
  ],
  targets: [
    .target(
      name: "VestaCryptoInterop", dependencies: [.product(name: "VestaBytes", package: "Core")], swiftSettings: settings
    ),
    .target(
      name: "VestaCryptoInteropContracts",
      dependencies: [
        "VestaCryptoInterop",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaCryptoInteropFakes",
      dependencies: [
        "VestaCryptoInterop",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaCryptoInteropTests",
      dependencies: [
        "VestaCryptoInterop", "VestaCryptoInteropContracts", "VestaCryptoInteropFakes",
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
