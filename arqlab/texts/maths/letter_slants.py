"""Letters of the math font by how far they lean over what follows; bin/math-font writes this."""

# Steps of 0.05 em of a script.
SLANTS = {
    1: "𝐵𝑅𝑋𝑐𝑑𝑔𝑞𝑦𝑧𝑬𝑹𝑺𝑿𝒄𝒅𝒒𝒚𝛣𝛸𝛺𝛽𝛿𝜂𝜉𝜋𝜎𝜠𝜮𝜲𝜴𝜹𝜻𝜼",
    2: "𝐶𝐸𝐻𝐼𝐾𝑆𝑍𝑪𝑯𝑰𝑲𝒁𝒇𝛦𝛧𝛨𝛪𝛫𝛯𝛱𝛴𝛾𝜁𝜈𝜍𝜕𝜡𝜢𝜤𝜥𝜩𝜫𝜸𝝂𝝇𝝏",
    3: "𝐽𝑀𝑁𝑈𝑓𝑱𝑴𝑵𝑼𝛭𝛮𝛹𝜏𝜧𝜨𝜳𝝉",
    4: "𝐹𝑃𝑇𝑊𝑭𝑷𝑾𝛤𝛲𝛵𝛶𝜞𝜬",
    5: "𝑻𝜯𝜰",
    6: "𝑉𝑌",
    7: "𝑽𝒀",
}
