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
  name: "MessagingInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaMessagingInterop", targets: ["VestaMessagingInterop"]),
    .library(name: "VestaMessagingInteropContracts", targets: ["VestaMessagingInteropContracts"]),
    .library(name: "VestaMessagingInteropFakes", targets: ["VestaMessagingInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core")
  ],
  targets: [
    .target(
      name: "VestaMessagingInterop",
      dependencies: [.product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaMessagingInteropContracts",
      dependencies: [
        "VestaMessagingInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaMessagingInteropFakes",
      dependencies: [
        "VestaMessagingInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaMessagingInteropTests",
      dependencies: [
        "VestaMessagingInterop", "VestaMessagingInteropContracts", "VestaMessagingInteropFakes",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
